"""The start page: assignments with their problems and the viewer's best scores."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from app import problems, submissions
from app.db import snapshot
from app.http.access import Database, SignedIn
from app.web.page import OwnPage

router = APIRouter(include_in_schema=False)


@router.get("/")
def assignments(viewer: SignedIn, page: OwnPage, database: Database) -> HTMLResponse:
    """What there is to do, and how far the viewer is."""
    with snapshot(database) as session:
        views = problems.visible(session, viewer)
        standings = submissions.standings(session, viewer)
    return page.show("assignments.html", assignments=views, standings=standings)
