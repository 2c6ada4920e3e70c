"""Submissions: send one, look at it, list them, and override the points of a check."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.concurrency import run_in_threadpool

from app import overrides, submissions
from app.api.answers import (
    AcceptedSubmission,
    OverrideRequest,
    Student,
    SubmissionList,
    SubmissionSummary,
)
from app.api.body import described, read_body
from app.api.errors import errors
from app.api.examples import ACCEPTED, REPORT, UPLOAD_BODIES
from app.api.upload import Upload, read_upload
from app.db import Sessions, snapshot, transaction
from app.domain.report import Report
from app.domain.report_text import report_text
from app.domain.run import RunStatus
from app.domain.words import Language
from app.http import access
from app.http.access import Configuration, Database, RateLimits
from app.http.changes import WatchedChanges
from app.http.entity_tags import IfMatch, require_match, tag
from app.http.language import InLanguage
from app.models import Person
from app.problems import find as find_problem
from app.settings import Settings
from app.submissions import FINAL, Accepted, SubmissionLine, SubmissionView

router = APIRouter(tags=["submissions"])

TEXT = "text/plain"

Key = Annotated[str | None, Header(max_length=200, description="Your name for this request.")]
Wait = Annotated[float, Query(ge=0, le=60, description="Seconds to wait for the report.")]


@router.post(
    "/problems/{problem_id}/submissions",
    status_code=202,
    response_model=AcceptedSubmission,
    responses={**errors(404, 413, 415), 200: REPORT, 202: ACCEPTED},
    openapi_extra={"requestBody": UPLOAD_BODIES},
)
async def submit(
    problem_id: str,
    request: Request,
    viewer: access.Student,
    database: Database,
    settings: Configuration,
    rates: RateLimits,
    changes: WatchedChanges,
    language: InLanguage,
    wait: Wait = 0,
    idempotency_key: Key = None,
) -> Response:
    """Send files or answers. 202 says that they are stored and will be graded; with ``wait`` the
    answer is 200 with the report, if that is final in time. ``Accept: text/plain`` gives it as
    text. A repeated ``Idempotency-Key`` gives the first answer again."""
    rates.count_post(viewer.id, problem_id)
    upload = await read_upload(request)
    accepted = await run_in_threadpool(
        _accept, database, settings, viewer, problem_id, upload, idempotency_key
    )
    final = wait > 0 and await changes.reached(submissions.statuses, accepted.id, FINAL, wait)
    headers = {"Location": f"/api/v1/submissions/{accepted.id}"}
    if accepted.replayed:
        headers["Idempotency-Replayed"] = "true"
    if not final and not _wants_text(request):
        return JSONResponse(_acceptance(accepted), 202, headers)
    found = await run_in_threadpool(_found, database, viewer, accepted.id)
    return _told(request, found, language, 200 if final else 202, headers)


def _accept(
    database: Sessions,
    settings: Settings,
    viewer: Person,
    problem_id: str,
    upload: Upload,
    key: str | None,
) -> Accepted:
    with snapshot(database) as session:
        problem = find_problem(session, viewer, problem_id).content
    work = upload.work(problem, settings.upload_limit)
    with transaction(database) as session:
        return submissions.accept(
            session,
            person=viewer,
            problem_id=problem_id,
            work=work,
            idempotency_key=key,
            request_sha256=f"{problem_id} {upload.sha256}",
            supersede=settings.jobs.supersede == "course",
        )


def _found(database: Sessions, viewer: Person, submission_id: str) -> SubmissionView:
    with snapshot(database) as session:
        return submissions.find(session, viewer, submission_id)


def _acceptance(accepted: Accepted) -> dict[str, object]:
    return AcceptedSubmission.model_validate(accepted, from_attributes=True).model_dump(mode="json")


def _told(
    request: Request,
    found: SubmissionView,
    language: Language,
    status: int = 200,
    more: dict[str, str] | None = None,
) -> Response:
    report = submissions.report_on(found, language)
    headers = {"ETag": tag(found.state), **(more or {})}
    if _wants_text(request):
        return PlainTextResponse(report_text(report, language), status, headers)
    return Response(report.model_dump_json(), status, headers, "application/json")


def _wants_text(request: Request) -> bool:
    accept = request.headers.get("accept", "")
    return TEXT in accept and "json" not in accept


@router.get(
    "/submissions/{submission_id}",
    response_model=Report,
    responses={**errors(404), 200: REPORT},
)
def get_submission(
    submission_id: str,
    request: Request,
    viewer: access.Student,
    database: Database,
    language: InLanguage,
) -> Response:
    """The report, in any status: before the first run ends ``score`` is null and ``checks`` is
    empty. ``Accept: text/plain`` gives 80 columns of text. ``ETag`` names this state of it."""
    return _told(request, _found(database, viewer, submission_id), language)


@router.get("/submissions", response_model=SubmissionList, responses=errors())
def list_submissions(
    request: Request,
    response: Response,
    viewer: access.Student,
    database: Database,
    problem: str | None = None,
    student: Annotated[str | None, Query(description="A person's id or address.")] = None,
    status: RunStatus | None = None,
    cursor: Annotated[str | None, Query(description="`next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=submissions.PAGE_LIMIT)] = 50,
) -> SubmissionList:
    """Your own submissions, and all of the courses in which you are staff, newest first."""
    with snapshot(database) as session:
        page = submissions.page(
            session,
            viewer,
            problem=problem,
            student=student,
            status=status,
            cursor=cursor,
            limit=limit,
        )
    if page.next:
        query = urlencode({**request.query_params, "cursor": page.next})
        response.headers["Link"] = f'<{request.url.path}?{query}>; rel="next"'
    return SubmissionList(items=list(map(_summary, page.lines)), next=page.next)


def _summary(line: SubmissionLine) -> SubmissionSummary:
    return SubmissionSummary(
        id=line.id,
        problem=line.problem,
        student=Student(id=line.person.id, name=line.person.name),
        attempt=line.attempt,
        received_at=line.received_at,
        status=line.status,
        score=line.score,
        max_score=line.max_score,
    )


@router.put("/submissions/{submission_id}/override", include_in_schema=False)
@router.post(
    "/submissions/{submission_id}/override",
    response_model=Report,
    responses={**errors(404, 412, 415, 428), 200: REPORT},
    openapi_extra={"requestBody": described(OverrideRequest)},
)
async def override_points(
    submission_id: str,
    request: Request,
    viewer: access.Assistant,
    database: Database,
    language: InLanguage,
    if_match: IfMatch = None,
) -> Response:
    """Give points for one check instead of the machine's, with a reason; it is written down who
    did. The answer is the report with the new points."""
    override = await read_body(request, OverrideRequest)
    found = await run_in_threadpool(
        _overridden, database, viewer, submission_id, override, if_match
    )
    return _told(request, found, language)


def _overridden(
    database: Sessions,
    viewer: Person,
    submission_id: str,
    override: OverrideRequest,
    if_match: str | None,
) -> SubmissionView:
    with transaction(database) as session:
        seen = submissions.find(session, viewer, submission_id)
        require_match(if_match, seen.state)
        overrides.set(
            session, viewer, submission_id, override.check, override.points, override.reason
        )
        return submissions.find(session, viewer, submission_id)
