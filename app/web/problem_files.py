"""For staff: what the folder of problems holds, and what keeps a file from being served."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from app import problems
from app.db import snapshot
from app.http.access import Assistant, Database
from app.problems import FileView
from app.web.page import OwnPage

router = APIRouter(include_in_schema=False)


@router.get("/problem-files")
def problem_files(_viewer: Assistant, page: OwnPage, database: Database) -> HTMLResponse:
    """Each file with its state and its errors."""
    with snapshot(database) as session:
        files = [(file, state(file)) for file in problems.files(session)]
    return page.show("problem_files.html", files=files)


def state(file: FileView) -> str:
    """The word for a file's state: served, proving, errors, or replaced by a later change."""
    if file.row.errors:
        return "errors"
    if file.version and file.version.state == "proving":
        return "proving"
    return "served" if file.is_served else "replaced"
