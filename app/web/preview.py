"""The preview of a problem file: the page as students will see it, or why there is none yet."""

from collections.abc import Sequence
from dataclasses import replace

from fastapi import Request
from fastapi.responses import HTMLResponse

from app.catalogue.problem_file import ProblemVersion
from app.domain.problem import TextProblem
from app.errors import Place
from app.settings import Settings
from app.submissions import Page as Attempts
from app.web.page import bare_page
from app.web.problem import problem_facts
from app.web.words import phrase
from app.web.work_form import empty_draft


def show_problem(request: Request, version: ProblemVersion, state: str) -> HTMLResponse:
    """The page of the problem, with what its author alone may see below. ``state`` names the
    content of the file, so that the page knows when it is out of date."""
    page, problem = bare_page(request), version.problem
    banner = phrase("banner_preview", page.language, path=version.path)
    return replace(page, banners=(banner,)).show(
        "preview.html",
        state=state,
        assignment={"en": version.assignment},
        attempts=Attempts([], None),
        rubric=problem.rubric if isinstance(problem, TextProblem) else (),
        **problem_facts(problem, empty_draft(problem, page.language), Settings()),
    )


def show_broken(request: Request, places: Sequence[Place], state: str) -> HTMLResponse:
    """The page that says where the file is wrong."""
    return bare_page(request).show("preview_broken.html", places=places, state=state)
