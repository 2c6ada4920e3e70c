"""The switches of language and theme, kept in cookies."""

from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse

from app.domain.words import Language
from app.http.access import Public
from app.web.page import LANGUAGE_COOKIE, THEME_COOKIE, Theme

router = APIRouter(include_in_schema=False, dependencies=[Public])

YEAR_S = 365 * 24 * 3600


@router.post("/switches")
async def switch(
    back: Annotated[str, Form()] = "/",
    language: Annotated[Language | None, Form()] = None,
    theme: Annotated[Theme | None, Form()] = None,
) -> RedirectResponse:
    """Keeps the choice and returns to the page it was made on."""
    response = RedirectResponse(local(back), 303)
    for cookie, choice in ((LANGUAGE_COOKIE, language), (THEME_COOKIE, theme)):
        if choice:
            response.set_cookie(cookie, choice, max_age=YEAR_S, httponly=True, samesite="lax")
    return response


def local(address: str) -> str:
    """``address`` if it stays on this site, else the start page."""
    inside = address.startswith("/") and address[1:2] not in ("/", "\\")
    return address if inside and address.isprintable() else "/"
