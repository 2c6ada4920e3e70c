"""One submission: its report, live, with the code beside it; for staff also the points to set."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from app import overrides, runs, submissions
from app.db import Sessions, snapshot, transaction
from app.domain.answers import read_number
from app.domain.quotation import quoted
from app.domain.report import CheckReport, RemarkReport, Report
from app.domain.run import CheckResult, Evidence
from app.errors import AttestError, InvalidRequest, NotFound
from app.http.access import Assistant, Database, Student
from app.models import Override, Person
from app.submissions import SubmissionView
from app.web.code import CodeFile, code_files
from app.web.heat_map import HeatMap, heat_map
from app.web.page import OwnPage, Page

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class Attempt:
    """Points that were typed and not taken, with the reason why not."""

    check: str
    points: str
    reason: str
    error: str
    status: int


@dataclass(frozen=True)
class RemarkRow:
    """One remark, and the address of its line."""

    report: RemarkReport
    line: str | None


@dataclass(frozen=True)
class CheckRow:
    """One check as the page shows it.

    ``maps`` are its matrices by the key of their caption; ``line`` the address of the line that
    raised; ``state`` tells this state of its override from any other.
    """

    report: CheckReport
    evidence: Evidence | None
    maps: Mapping[str, HeatMap]
    line: str | None
    override: Override | None
    by: str
    state: str


@router.get("/submissions/{submission_id}")
def submission(
    submission_id: str, viewer: Student, page: OwnPage, database: Database
) -> HTMLResponse:
    """The report in whatever state it is."""
    return _shown(database, page, viewer, submission_id)


@router.get("/submissions/{submission_id}/files/{position}")
def download(submission_id: str, position: str, viewer: Student, database: Database) -> Response:
    """One file as it was sent."""
    with snapshot(database) as session:
        view = submissions.find(session, viewer, submission_id)
        files = dict(enumerate(runs.work_of(session, view.row.id).files.values()))
    number = next((number for number in files if str(number) == position), None)
    if number is None:
        raise NotFound(f"no file {quoted(position)} in this submission")
    # The name is the student's: it stands on the page, not in a header.
    headers = {"Content-Disposition": f'attachment; filename="file-{number + 1}"'}
    return Response(files[number], headers=headers, media_type="application/octet-stream")


@router.post("/submissions/{submission_id}/override")
def override(
    submission_id: str,
    viewer: Assistant,
    page: OwnPage,
    database: Database,
    check: Annotated[str, Form()] = "",
    points: Annotated[str, Form()] = "",
    reason: Annotated[str, Form()] = "",
    seen: Annotated[str, Form()] = "",
) -> Response:
    """Gives points for a check, unless somebody else did since the page was read."""
    try:
        number = _number(points)
        with transaction(database) as session:
            overrides.set(session, viewer, submission_id, check, number, reason, seen=seen)
    except AttestError as refusal:
        if refusal.status not in (412, 422):
            raise
        attempt = Attempt(check, points, reason, str(refusal), refusal.status)
        return _shown(database, page, viewer, submission_id, attempt)
    return RedirectResponse(f"/submissions/{submission_id}#check-{check}", 303)


def _number(text: str) -> float:
    try:
        return read_number(text)
    except ValueError as error:
        raise InvalidRequest(f"points: {error}") from None


def _shown(
    database: Sessions,
    page: Page,
    viewer: Person,
    submission_id: str,
    attempt: Attempt | None = None,
) -> HTMLResponse:
    with snapshot(database) as session:
        view = submissions.find(session, viewer, submission_id)
        work = runs.work_of(session, view.row.id)
        by = {o.by_id: session.get_one(Person, o.by_id).name for o in view.overrides.values()}
        report = submissions.report_on(view, page.language)
    files = code_files(work.files)
    return page.show(
        "submission.html",
        attempt.status if attempt else 200,
        view=view,
        report=report,
        rows=_rows(view, report, files, by),
        remarks=[RemarkRow(each, _address(vars(each), files)) for each in report.remarks],
        files=files,
        work=work,
        attempt=attempt,
        may_override=view.viewer == "staff" and view.is_final,
    )


def _rows(
    view: SubmissionView, report: Report, files: list[CodeFile], by: Mapping[str, str]
) -> list[CheckRow]:
    known = submissions.evidence(view)
    results = {result.id: result for result in runs.result_of(view.run).checks}
    return [
        _row(
            check,
            known.get(check.id),
            _address(_place(check, results[check.id]), files),
            view.overrides.get(check.id),
            by,
        )
        for check in report.checks
    ]


def _row(
    check: CheckReport,
    evidence: Evidence | None,
    line: str | None,
    own: Override | None,
    by: Mapping[str, str],
) -> CheckRow:
    maps = _maps(evidence) if evidence else {}
    name = by[own.by_id] if own else ""
    return CheckRow(check, evidence, maps, line, own, name, overrides.state(own))


def _maps(evidence: Evidence) -> dict[str, HeatMap]:
    """What there is to see: always the student's own, the rest only where it may be seen."""
    student, expected = evidence.student, evidence.expected
    maps = {"map_student": heat_map(student, evidence.wrong, beside=expected)}
    if expected is not None:
        maps["map_expected"] = heat_map(expected, beside=student)
    if evidence.difference is not None:
        maps["map_difference"] = heat_map(evidence.difference, evidence.wrong)
    return maps


def _place(check: CheckReport, result: CheckResult) -> Mapping[str, object]:
    """The facts that the check's message is about, if it has one."""
    return result.finding.facts if result.finding and check.message else {}


def _address(place: Mapping[str, object], files: list[CodeFile]) -> str | None:
    """The address of a line, if it is in a submitted file."""
    line, cell = place.get("line"), place.get("cell")
    found = [file for file in files if file.name == place.get("file")]
    if not found or not isinstance(line, int):
        return None
    return f"#{found[0].anchor(line, cell if isinstance(cell, int) else None)}"
