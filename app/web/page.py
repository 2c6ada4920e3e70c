"""What all pages share: who looks, in which language and theme, and what the banners say."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, get_args

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from sqlalchemy.orm import Session

from app import people, workers
from app.db import snapshot
from app.domain.bilingual import Words
from app.domain.report import in_language
from app.domain.report_text import points_text
from app.domain.words import LANGUAGES, Language, outcome_word
from app.http.access import COOKIE, SignedIn
from app.http.language import preferred_language
from app.models import Person
from app.people import Role
from app.settings import Settings
from app.web.answer_form import written
from app.web.assets import asset
from app.web.hostile import shown
from app.web.markdown import rendered, rendered_inline
from app.web.words import phrase

Theme = Literal["auto", "light", "dark"]
THEMES: tuple[Theme, ...] = get_args(Theme)

LANGUAGE_COOKIE, THEME_COOKIE = "attest_language", "attest_theme"
FULL = "full"

_templates = Environment(
    loader=PackageLoader("app.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters |= {
    "shown": shown,
    "markdown": rendered,
    "markdown_line": rendered_inline,
    "points": points_text,
    "written": written,
}
_templates.globals["asset"] = asset


@dataclass(frozen=True)
class Page:
    """One page for one viewer, who is None where nobody is signed in."""

    request: Request
    language: Language
    theme: Theme
    viewer: Person | None = None
    role: Role | None = None
    banners: tuple[str, ...] = ()

    @property
    def is_staff(self) -> bool:
        """Whether the viewer is staff of any course."""
        return people.is_at_least(self.role, "ta")

    @property
    def place(self) -> str:
        """Where this page is, for the switches to come back to."""
        url = self.request.url
        return f"{url.path}?{url.query}" if url.query else url.path

    def say(self, key: str, **facts: object) -> str:
        """The page's own words."""
        return phrase(key, self.language, **facts)

    def title(self, titles: Mapping[str, str] | Words) -> str:
        """That one of two titles which is in the page's language."""
        if isinstance(titles, Words):
            return in_language(titles, self.language)
        return titles.get(self.language) or titles["en"]

    def outcome(self, outcome: Any) -> str:
        """The outcome of a check in words."""
        return outcome_word(outcome, self.language)

    def show(self, template: str, status: int = 200, **facts: Any) -> HTMLResponse:
        """The answer with this template, filled with ``facts``."""
        known = {"page": self, "t": self.say, "title_of": self.title, "moment": moment}
        return HTMLResponse(_templates.get_template(template).render(known, **facts), status)


def moment(time: datetime) -> str:
    """The time as people write it; the page's script tells it in the reader's own zone."""
    return f"{time:%Y-%m-%d %H:%M} UTC"


def language_of(request: Request) -> Language:
    """The language chosen by the switch, else the one that the browser prefers."""
    chosen = request.cookies.get(LANGUAGE_COOKIE)
    known = next((language for language in LANGUAGES if language == chosen), None)
    return known or preferred_language(request.headers.get("accept-language", ""))


def theme_of(request: Request) -> Theme:
    """The theme chosen by the switch, else whatever the system prefers."""
    chosen = request.cookies.get(THEME_COOKIE)
    return next((theme for theme in THEMES if theme == chosen), "auto")


def page_for(request: Request, viewer: Person | None) -> Page:
    """The page that ``viewer`` looks at."""
    with snapshot(request.app.state.sessions) as session:
        role = people.highest_role(session, viewer) if viewer else None
        language = language_of(request)
        banners = _banners(session, request.app.state.settings, language)
    return Page(request, language, theme_of(request), viewer, role, banners)


def bare_page(request: Request) -> Page:
    """A page that needs no database."""
    return Page(request, language_of(request), theme_of(request))


def _banners(session: Session, settings: Settings, language: Language) -> tuple[str, ...]:
    found = workers.readiness(session, settings.jobs.stalled_after)
    if not found.ready:
        return (phrase("banner_no_worker", language),)
    if found.sandbox_level != FULL:
        return (phrase("banner_isolation", language, level=found.sandbox_level),)
    return ()


def _own(request: Request, viewer: SignedIn) -> Page:
    return page_for(request, viewer)


def _open(request: Request) -> Page:
    """For pages that need no sign-in, and still know who has signed in."""
    secret = request.cookies.get(COOKIE)
    with snapshot(request.app.state.sessions) as session:
        viewer = people.by_session(session, secret) if secret else None
    return page_for(request, viewer)


OwnPage = Annotated[Page, Depends(_own)]
"""The page of who is signed in."""

OpenPage = Annotated[Page, Depends(_open)]
"""A page for everybody."""

open_page = _open
