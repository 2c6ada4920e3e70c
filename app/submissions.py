"""Submissions: accepted in one transaction, then looked at by their author and by staff."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, cast

from sqlalchemy import bindparam, func, or_, select
from sqlalchemy.orm import Session, joinedload, selectinload, undefer

from app import overrides, people, problems, runs
from app.domain.outcome import Outcome
from app.domain.problem import Problem as Content
from app.domain.report import CheckReport, OverrideReport, Report, report_of
from app.domain.run import Evidence, Finding, RunStatus
from app.domain.submission import Submission as Work
from app.domain.words import Language, sentence
from app.errors import InvalidRequest, NotFound
from app.failpoint import failpoint
from app.models import (
    IdempotencyKey,
    Override,
    Person,
    Problem,
    Result,
    Run,
    Submission,
    SubmissionFile,
    Version,
)
from app.models.base import insertion, new_id, now
from app.people import Role

PAGE_LIMIT = 100
FINAL: tuple[RunStatus, ...] = ("graded", "needs_review", "errored", "superseded", "cancelled")
SCORED: tuple[RunStatus, ...] = ("graded", "needs_review")
FREE: tuple[RunStatus, ...] = ("errored", "superseded", "cancelled")  # cost no attempt


@dataclass(frozen=True)
class Accepted:
    """What the sender of a submission is told at once."""

    id: str
    problem: str
    status: RunStatus
    attempt: int
    sha256: str
    received_at: datetime
    replayed: bool = False


@dataclass(frozen=True)
class SubmissionView:
    """One submission with its latest run, as ``viewer`` may see it.

    ``content`` is the problem as the run's version states it. ``overrides`` are by check.
    """

    row: Submission
    run: Run
    content: Content
    viewer: Literal["student", "staff"]
    overrides: dict[str, Override]

    @property
    def is_final(self) -> bool:
        """Whether the run's status will not change by itself any more."""
        return self.run.status in FINAL

    @property
    def state(self) -> str:
        """What tells one state of the submission from any other: its run and its overrides."""
        own = sorted(f"{name} {overrides.state(each)}" for name, each in self.overrides.items())
        parts = [self.run.id, self.run.status, str(self.run.fence), *own]
        return _sha256("\n".join(parts).encode())[:32]


@dataclass(frozen=True)
class SubmissionLine:
    """One line of a list of submissions."""

    id: str
    problem: str
    person: Person
    attempt: int
    received_at: datetime
    status: RunStatus
    score: float | None
    max_score: float


@dataclass(frozen=True)
class Standing:
    """How far a person is with one problem: the best score, None before there is any, of how many
    submissions, and whether one of them is not graded yet."""

    best: float | None
    submissions: int
    waiting: bool


@dataclass(frozen=True)
class Page:
    """Some lines, newest first; ``next`` is the cursor of the page after this one."""

    lines: list[SubmissionLine]
    next: str | None


# Accepting


def accept(
    session: Session,
    *,
    person: Person,
    problem_id: str,
    work: Work,
    idempotency_key: str | None = None,
    request_sha256: str | None = None,
    supersede: bool = True,
) -> Accepted:
    """Stores a submission with a queued run, in the caller's transaction (T1).

    Once that is committed the submission will be graded, whatever dies. The same
    ``idempotency_key`` with the same ``request_sha256`` gives the first answer again.
    ``supersede`` False keeps older queued runs, whatever the course says. Raises NotFound for a
    problem that the person cannot see, and InvalidRequest for a key used for another request.
    """
    if idempotency_key and (known := session.get(IdempotencyKey, (person.id, idempotency_key))):
        return _replayed(session, person, known, request_sha256)
    problem = problems.find(session, person, problem_id).row
    rank = runs.rank(session, person.id)
    if rank and supersede and problem.assignment.course.supersede == "queued":
        runs.supersede(session, person.id, problem_id)
    accepted = _store(session, person, problem, work)
    runs.queue(session, accepted.id, problem.current_version, rank)
    if idempotency_key:
        key = IdempotencyKey(person_id=person.id, key=idempotency_key)
        key.request_sha256, key.submission_id = request_sha256 or "", accepted.id
        session.add(key)
        session.flush()
    failpoint("before-accept-commit")
    return accepted


def _replayed(
    session: Session, person: Person, known: IdempotencyKey, request_sha256: str | None
) -> Accepted:
    if known.request_sha256 != (request_sha256 or ""):
        raise InvalidRequest(f"the Idempotency-Key {known.key!r} came before with another request")
    view = find(session, person, known.submission_id)
    row = view.row
    status = cast(RunStatus, view.run.status)
    return Accepted(
        row.id, row.problem_id, status, row.attempt, row.sha256, row.received_at, replayed=True
    )


def _store(session: Session, person: Person, problem: Problem, work: Work) -> Accepted:
    accepted = Accepted(
        id=new_id(),
        problem=problem.id,
        status="queued",
        attempt=_attempts(session, person.id, problem.id) + 1,
        sha256=sha256_of(work),
        received_at=now(),
    )
    stored = {
        "id": accepted.id,
        "problem_id": problem.id,
        "course_id": problem.assignment.course_id,
        "person_id": person.id,
        "answers": json.dumps(work.answers, ensure_ascii=False) if work.answers else None,
        "text": work.text or None,
        "sha256": accepted.sha256,
        "attempt": accepted.attempt,
        "received_at": accepted.received_at,
    }
    session.execute(_SUBMISSION, stored)
    files = [
        {"submission_id": accepted.id, "position": n, "name": name, "data": data}
        for n, (name, data) in enumerate(work.files.items())
    ]
    if files:
        session.execute(_FILE, files)
    return accepted


_SUBMISSION = insertion(Submission)
_FILE = insertion(SubmissionFile)


def _attempts(session: Session, person_id: str, problem_id: str) -> int:
    """How many of the person's submissions count; one whose latest run costs nothing does not."""
    return session.scalar(_ATTEMPTS, {"person": person_id, "problem": problem_id}) or 0


_ATTEMPTS = (
    select(func.count())
    .select_from(Run)
    .join(Run.submission)
    .where(
        Submission.person_id == bindparam("person"),
        Submission.problem_id == bindparam("problem"),
        Run.status.not_in(FREE),
        runs.latest(Run.submission_id),
    )
)


def sha256_of(work: Work) -> str:
    """The hash of a single file is that of its bytes; of several, that of their list as
    ``sha256sum`` prints it; of answers and text, that of their JSON with sorted keys."""
    if not work.files:
        stated = {"answers": work.answers, "text": work.text}
        return _sha256(json.dumps(stated, sort_keys=True, ensure_ascii=False).encode())
    if len(work.files) == 1:
        return _sha256(next(iter(work.files.values())))
    lines = [f"{_sha256(data)}  {name}\n" for name, data in work.files.items()]
    return _sha256("".join(lines).encode())


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# Looking


def find(session: Session, viewer: Person, submission_id: str) -> SubmissionView:
    """The submission with its latest run. Raises NotFound unless it is the viewer's own or the
    viewer is staff of its course."""
    row = session.get(Submission, submission_id)
    role = people.role(session, viewer, row.course_id) if row else None
    if row is None or not _may_see(row, viewer, role):
        raise NotFound(f"no submission `{submission_id}`")
    run = session.scalars(
        select(Run)
        .where(Run.submission_id == submission_id, runs.latest(Run.submission_id))
        .options(
            undefer(Run.printed),
            undefer(Run.printed_hidden),
            joinedload(Run.version),
            selectinload(Run.results).undefer(Result.evidence),
        )
    ).one()
    own = overrides.of(session, [row.id]).get(row.id, {})
    kind: Literal["student", "staff"] = "staff" if people.is_at_least(role, "ta") else "student"
    return SubmissionView(row, run, problems.content_of(run.version), kind, dict(own))


def status(session: Session, viewer: Person, submission_id: str) -> RunStatus:
    """The latest run's status alone, cheap enough to ask for often. Raises NotFound as ``find``."""
    found = session.execute(
        select(Submission, Run.status)
        .join(Run, Run.submission_id == Submission.id)
        .where(Submission.id == submission_id, runs.latest(Submission.id))
    ).one_or_none()
    if found is None or not _may_see(
        found[0], viewer, people.role(session, viewer, found[0].course_id)
    ):
        raise NotFound(f"no submission `{submission_id}`")
    return cast(RunStatus, found[1])


def statuses(session: Session, submission_ids: Collection[str]) -> dict[str, str]:
    """The latest runs' statuses by submission, for who may see them already."""
    found = select(Run.submission_id, Run.status).where(
        Run.submission_id.in_(submission_ids), runs.latest(Run.submission_id)
    )
    return {row.submission_id: row.status for row in session.execute(found)}


def _may_see(row: Submission, viewer: Person, role: Role | None) -> bool:
    return row.person_id == viewer.id or people.is_at_least(role, "ta")


def page(
    session: Session,
    viewer: Person,
    *,
    problem: str | None = None,
    student: str | None = None,
    status: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page:
    """The viewer's own submissions and those of courses they are staff of, newest first.

    ``student`` is a person's id or address; ``cursor`` the ``next`` of the page before.
    """
    limit = max(1, min(limit, PAGE_LIMIT))
    staffed = people.courses(session, viewer, "ta")
    query = (
        select(Submission, Run, Version.points)
        .join(Run, Run.submission_id == Submission.id)
        .join(Version, Version.id == Run.version_id)
        .where(runs.latest(Submission.id))
        .where(or_(Submission.person_id == viewer.id, Submission.course_id.in_(staffed)))
    )
    if problem:
        query = query.where(Submission.problem_id == problem)
    if student:
        query = query.where(
            Submission.person.has(or_(Person.id == student, Person.email == student.lower()))
        )
    if status:
        query = query.where(Run.status == status)
    if cursor:
        query = query.where(Submission.id < cursor)
    rows = session.execute(query.order_by(Submission.id.desc()).limit(limit + 1)).all()
    lines = _lines(session, [(row[0], row[1], row[2]) for row in rows[:limit]])
    return Page(lines, lines[-1].id if len(rows) > limit else None)


def _lines(session: Session, rows: Sequence[tuple[Submission, Run, float]]) -> list[SubmissionLine]:
    known = overrides.of(session, [submission.id for submission, _, _ in rows])
    return [
        SubmissionLine(
            id=submission.id,
            problem=submission.problem_id,
            person=submission.person,
            attempt=submission.attempt,
            received_at=submission.received_at,
            status=cast(RunStatus, run.status),
            score=score(run, known.get(submission.id, {})),
            max_score=points,
        )
        for submission, run, points in rows
    ]


def standings(session: Session, person: Person) -> dict[str, Standing]:
    """How far the person is, by problem; problems without a submission are left out."""
    query = (
        select(Submission, Run, Version.points)
        .join(Run, Run.submission_id == Submission.id)
        .join(Version, Version.id == Run.version_id)
        .where(Submission.person_id == person.id, runs.latest(Submission.id))
    )
    by_problem: dict[str, list[SubmissionLine]] = defaultdict(list)
    for line in _lines(session, [(row[0], row[1], row[2]) for row in session.execute(query)]):
        by_problem[line.problem].append(line)
    return {problem: _standing(lines) for problem, lines in by_problem.items()}


def _standing(lines: list[SubmissionLine]) -> Standing:
    scores = [line.score for line in lines if line.score is not None]
    waiting = any(line.status not in FINAL for line in lines)
    return Standing(max(scores, default=None), len(lines), waiting)


def score(run: Run, own: Any) -> float | None:
    """The machine's points with a person's in their place; None before there are any."""
    if run.status not in SCORED or run.score is None:
        return None
    if not own:
        return run.score
    return sum(own[r.check_id].points if r.check_id in own else r.points for r in run.results)


# Telling


def report(
    session: Session,
    viewer: Person,
    submission_id: str,
    language: Language,
    *,
    revealed: bool = False,
) -> Report:
    """The report of the latest run, in any status. Raises NotFound as ``find`` does."""
    return report_on(find(session, viewer, submission_id), language, revealed=revealed)


def report_on(view: SubmissionView, language: Language, *, revealed: bool = False) -> Report:
    """The report of a submission that was found already."""
    run = view.run
    began = run.started_at or run.finished_at
    told = report_of(
        view.content,
        run.version.name,
        runs.result_of(run),
        language=language,
        viewer=view.viewer,
        revealed=revealed,
        submission_id=view.row.id,
        queued_s=(began - run.queued_at).total_seconds() if began else 0.0,
    )
    checks = [_overridden(check, view.overrides.get(check.id)) for check in told.checks]
    warnings = [*told.warnings, *_status_words(run, view.viewer, language)]
    changes = {"score": score(run, view.overrides), "checks": checks, "warnings": warnings}
    return told.model_copy(update=changes)


def _overridden(check: CheckReport, override: Override | None) -> CheckReport:
    """The check with a person's points; one that waited for them is decided by them."""
    if override is None:
        return check
    told = OverrideReport(points=override.points, reason=override.reason)
    changes: dict[str, Any] = {"points": override.points, "override": told}
    if check.outcome == Outcome.PENDING:
        full = override.points >= check.max_points
        changes["outcome"] = Outcome.PASSED if full else Outcome.WRONG
    return check.model_copy(update=changes)


def _status_words(run: Run, viewer: str, language: Language) -> list[str]:
    if run.status != "errored":
        return []
    detail = run.error if viewer == "staff" else ""
    return [sentence(Finding(key="errored", facts={"detail": detail}), language)]


def evidence(view: SubmissionView, *, revealed: bool = False) -> dict[str, Evidence]:
    """The matrices behind failed checks, by check, as the viewer may see them.

    A student before reveal sees their own matrix and its wrong cells, of visible checks alone.
    """
    hidden = {check.id for check in view.content.checks if check.hidden}
    found = {check.id: check.evidence for check in runs.result_of(view.run).checks}
    known = {name: each for name, each in found.items() if each is not None}
    if view.viewer == "staff" or revealed:
        return known
    return {
        name: replace(each, expected=None, difference=None)
        for name, each in known.items()
        if name not in hidden
    }
