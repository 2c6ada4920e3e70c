"""One problem: what is asked, the viewer's attempts, and the forms to send work with."""

from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from app import problems, submissions
from app.db import Sessions, snapshot, transaction
from app.domain.problem import (
    CodeProblem,
    Entry,
    Parameter,
    Problem,
    entries_of,
    questions_of,
    written_entries,
)
from app.errors import NotFound
from app.http.access import Configuration, Database, RateLimits, Student
from app.models import Person
from app.settings import Settings
from app.uploads.read import COUNT_LIMIT
from app.web.code import highlighted
from app.web.page import OwnPage, Page
from app.web.work_form import Draft, Sent, empty_draft, read_sent, work_of

router = APIRouter(include_in_schema=False)

ATTEMPTS_SHOWN = 20


@router.get("/problems/{problem_id}")
def problem(
    problem_id: str, viewer: Student, page: OwnPage, database: Database, settings: Configuration
) -> HTMLResponse:
    """The problem with empty forms."""
    return _shown(database, page, viewer, problem_id, settings)


@router.get("/problems/{problem_id}/starter")
def starter(problem_id: str, viewer: Student, database: Database) -> Response:
    """What the student begins with, as a file."""
    with snapshot(database) as session:
        content = problems.find(session, viewer, problem_id).content
    return starter_file(content)


def starter_file(content: Problem) -> Response:
    """The starter to download. Raises NotFound for a problem that has none."""
    if not isinstance(content, CodeProblem):
        raise NotFound(f"{content.id} has no starter")
    name = content.file or f"{next(iter(entries_of(content)))}.py"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content.starter, headers=headers, media_type="text/x-python")


@router.post("/problems/{problem_id}")
async def submit(
    problem_id: str,
    viewer: Student,
    page: OwnPage,
    database: Database,
    settings: Configuration,
    rates: RateLimits,
) -> Response:
    """Takes the work and goes on to its report, or shows the form again with what is wrong."""
    rates.count_post(viewer.id, problem_id)
    limit = settings.upload_limit
    async with page.request.form(max_files=COUNT_LIMIT + 1, max_part_size=limit) as form:
        sent = await read_sent(form)
    return await run_in_threadpool(_taken, database, page, viewer, problem_id, settings, sent)


def _taken(
    database: Sessions,
    page: Page,
    viewer: Person,
    problem_id: str,
    settings: Settings,
    sent: Sent,
) -> Response:
    with snapshot(database) as session:
        content = problems.find(session, viewer, problem_id).content
    work = work_of(content, sent, page.language, settings.upload_limit)
    if isinstance(work, Draft):
        return _shown(database, page, viewer, problem_id, settings, work)
    supersede = settings.jobs.supersede == "course"
    with transaction(database) as session:
        accepted = submissions.accept(
            session, person=viewer, problem_id=problem_id, work=work, supersede=supersede
        )
    return RedirectResponse(f"/submissions/{accepted.id}", 303)


def _shown(
    database: Sessions,
    page: Page,
    viewer: Person,
    problem_id: str,
    settings: Settings,
    draft: Draft | None = None,
) -> HTMLResponse:
    with snapshot(database) as session:
        view = problems.find(session, viewer, problem_id)
        attempts = submissions.page(
            session, viewer, problem=problem_id, student=viewer.id, limit=ATTEMPTS_SHOWN
        )
    draft = draft or empty_draft(view.content, page.language)
    facts = problem_facts(view.content, draft, settings)
    assignment = view.row.assignment.title
    return page.show(
        "problem.html", draft.status, assignment=assignment, attempts=attempts, **facts
    )


def problem_facts(problem: Problem, draft: Draft, settings: Settings) -> dict[str, Any]:
    """What the template shows of a problem itself, whoever looks at it."""
    code = problem if isinstance(problem, CodeProblem) else None
    signatures = written_entries(code) if code else {}
    return {
        "problem": problem,
        "questions": questions_of(problem),
        "signatures": signatures,
        "as_above": dict(_as_above(signatures)),
        "starter": highlighted(code.starter, ".py") if code else None,
        "draft": draft,
        "upload_limit_mb": settings.upload_limit / 2**20,
    }


def _as_above(entries: Mapping[str, Entry]) -> Iterator[tuple[str, set[str]]]:
    """By entry, the dictionaries among its parameters that an earlier entry has just so: their
    members, which can be dozens, are listed there."""
    above: dict[str, Parameter] = {}
    for name, entry in entries.items():
        yield name, {n for n, p in entry.parameters.items() if p.members and above.get(n) == p}
        above |= entry.parameters
