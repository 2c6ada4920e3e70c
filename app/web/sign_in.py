"""Signing in with a one-time link, and out."""

from fastapi import APIRouter, Cookie, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from app import people
from app.db import transaction
from app.errors import NotFound
from app.http.access import COOKIE, Database, Public, clear_cookie, set_cookie
from app.web.page import OpenPage

router = APIRouter(include_in_schema=False, dependencies=[Public])


@router.get("/sign-in/{code}")
def ask(code: str, page: OpenPage) -> HTMLResponse:
    """A button, since programs that look at links in mails would use the code up otherwise."""
    return page.show("sign_in.html", code=code, refused=False)


@router.post("/sign-in/{code}")
def sign_in(code: str, page: OpenPage, database: Database) -> Response:
    """Uses the code up and signs this browser in."""
    try:
        with transaction(database) as session:
            signed_in = people.redeem(session, code)
    except NotFound:
        return page.show("sign_in.html", 404, code=code, refused=True)
    response = RedirectResponse("/", 303)
    set_cookie(page.request, response, signed_in)
    return response


@router.post("/sign-out")
def sign_out(
    database: Database, attest_session: str | None = Cookie(None, alias=COOKIE)
) -> Response:
    """Ends this browser's session."""
    if attest_session:
        with transaction(database) as session:
            people.sign_out(session, attest_session)
    response = RedirectResponse("/", 303)
    clear_cookie(response)
    return response
