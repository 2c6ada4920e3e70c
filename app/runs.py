"""Runs: begun, published, failed, and found again after a crash.

Each step is one UPDATE whose WHERE says who may take it: the ticket decides who begins, the fence
who publishes. What matches no row was decided elsewhere, and is dropped.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import bindparam, exists, func, select, update
from sqlalchemy.orm import Session, joinedload, undefer

from app.domain.outcome import Outcome
from app.domain.run import CheckResult, Evidence, Finding, Remark, RunResult, RunStatus
from app.domain.submission import Submission as Work
from app.failpoint import failpoint
from app.jobs import announce, enqueue, live_tickets
from app.models import Result, Run, Submission, SubmissionFile, Version
from app.models.base import insertion, new_id, now

INTERACTIVE_PRIORITY = 1000
LOWEST_RANK = 99
OPEN = ("queued", "running")


@dataclass(frozen=True)
class Begun:
    """All that a worker needs to grade; ``fence`` proves later that it is still its turn."""

    fence: int
    version: Version
    work: Work
    seed: int
    tries: int


def queue(session: Session, submission_id: str, version: Version, rank: int) -> None:
    """Queues the first run of a submission, in the caller's transaction.

    ``rank`` is how many runs of the same person are open already: who sends much waits longer.
    """
    run_id, ticket = new_id(), secrets.token_hex(8)
    run = {
        "id": run_id,
        "submission_id": submission_id,
        "number": 1,
        "version_id": version.id,
        "seed": secrets.randbits(48),
        "status": "queued",
        "ticket": ticket,
        "queued_at": now(),
    }
    session.execute(_RUN, run)
    _enqueue(session, run_id, ticket, INTERACTIVE_PRIORITY - min(rank, LOWEST_RANK))


_RUN = insertion(Run)


def _enqueue(session: Session, run_id: str, ticket: str, priority: int) -> None:
    enqueue(session, "grade", {"run_id": run_id, "ticket": ticket}, priority=priority)


def supersede(session: Session, person_id: str, problem_id: str) -> int:
    """Sets aside the person's queued runs of that problem; their number."""
    theirs = {"person": person_id, "problem": problem_id, "moment": now()}
    return _count(session, _SUPERSEDE, theirs)


def rank(session: Session, person_id: str) -> int:
    """How many runs of the person are open."""
    return session.scalar(_RANK, {"person": person_id}) or 0


def begin(session: Session, run_id: str, ticket: str, max_tries: int = 3) -> Begun | None:
    """Starts a try. None if there is nothing to do: superseded, done, another's ticket, or
    started too often already, which makes the run errored."""
    if not _count(session, _BEGIN, {"run": run_id, "held": ticket, "moment": now()}):
        return None
    run = session.get_one(
        Run,
        run_id,
        options=[joinedload(Run.version).undefer(Version.yaml)],
        populate_existing=True,
    )
    if run.tries > max_tries:
        _end(run, "errored", f"grading was started {max_tries} times and never ended")
        return None
    return Begun(run.fence, run.version, work_of(session, run.submission_id), run.seed, run.tries)


def publish(session: Session, run_id: str, fence: int, result: RunResult) -> bool:
    """Stores what a try found; False if the try is no longer the latest, and nothing is stored."""
    mine = (Run.id == run_id, Run.fence == fence, Run.status == "running")
    values = {
        "status": result.status,
        "score": result.score,
        "finished_at": now(),
        "sandbox_level": result.sandbox_level,
        "printed": result.printed,
        "printed_hidden": result.printed_hidden,
        "notes": list(result.notes),
        "remarks": [asdict(remark) for remark in result.remarks],
        "sandbox_s": result.sandbox_s,
        "total_s": result.total_s,
    }
    if not _count(session, update(Run).where(*mine).values(**values)):
        return False
    session.add_all(_row(run_id, n, check) for n, check in enumerate(result.checks))
    session.flush()
    failpoint("inside-publish")
    return True


def fail(session: Session, run_id: str, fence: int, message: str, *, final: bool) -> bool:
    """Notes that a try failed by our fault: queued again, or errored if that is ``final``."""
    run = session.get(Run, run_id)
    if run is None or run.fence != fence or run.status != "running":
        return False
    announce(session)
    if final:
        _end(run, "errored", message)
    else:
        run.status, run.error = "queued", message
    return True


def _end(run: Run, status: RunStatus, message: str) -> None:
    run.status, run.error, run.finished_at = status, message, now()


def recover(session: Session) -> int:
    """Puts running rows back to queued; their number. Only for the holder of the worker's lock:
    nobody else can be grading them."""
    return _count(session, update(Run).where(Run.status == "running").values(status="queued"))


def reconcile(session: Session, before: datetime) -> int:
    """Gives new tickets to runs that are open since ``before`` and have no job; their number."""
    live = live_tickets(session)
    waiting = select(Run).where(Run.status.in_(OPEN), Run.queued_at <= before)
    lost = [run for run in session.scalars(waiting) if run.ticket not in live]
    for run in lost:
        run.ticket, run.status = secrets.token_hex(8), "queued"
        _enqueue(session, run.id, run.ticket, INTERACTIVE_PRIORITY)
    return len(lost)


def counts(session: Session) -> dict[str, int]:
    """How many runs have each status."""
    counted = select(Run.status, func.count()).group_by(Run.status)
    return {row[0]: row[1] for row in session.execute(counted)}


def latest(submission_id: Any) -> Any:
    """The condition that a run is the newest of its submission."""
    newer = Run.__table__.alias("newer")
    return ~exists().where(newer.c.submission_id == submission_id, newer.c.number > Run.number)


def _count(session: Session, statement: Any, values: Mapping[str, Any] | None = None) -> int:
    """Executes an UPDATE of runs; the number of its rows."""
    announce(session)
    options = {"synchronize_session": False}
    done = session.execute(statement, values, execution_options=options)
    return cast(int, done.rowcount)  # type: ignore[attr-defined]


# Statements of every submission are built once: building costs more than running them.

_RANK = (
    select(func.count())
    .select_from(Run)
    .join(Run.submission)
    .where(Run.status.in_(OPEN), Submission.person_id == bindparam("person"))
)
_SUPERSEDE = (
    update(Run)
    .where(
        Run.status == "queued",
        Run.submission_id.in_(
            select(Submission.id).where(
                Submission.person_id == bindparam("person"),
                Submission.problem_id == bindparam("problem"),
            )
        ),
    )
    .values(status="superseded", finished_at=bindparam("moment"))
)
_BEGIN = (
    update(Run)
    .where(Run.id == bindparam("run"), Run.ticket == bindparam("held"), Run.status.in_(OPEN))
    .values(
        status="running",
        fence=Run.fence + 1,
        tries=Run.tries + 1,
        started_at=bindparam("moment"),
    )
)


# Between rows and values


def work_of(session: Session, submission_id: str) -> Work:
    """What was sent, as grading takes it."""
    submission = session.get_one(
        Submission, submission_id, options=[undefer(Submission.answers), undefer(Submission.text)]
    )
    rows = session.scalars(
        select(SubmissionFile)
        .where(SubmissionFile.submission_id == submission_id)
        .order_by(SubmissionFile.position)
        .options(undefer(SubmissionFile.data))
    )
    answers = json.loads(submission.answers) if submission.answers else {}
    files = {file.name: file.data for file in rows}
    return Work(files=files, answers=answers, text=submission.text or "")


def result_of(run: Run) -> RunResult:
    """What a finished run found; of any other run, the little that is known."""
    return RunResult(
        status=cast(RunStatus, run.status),
        score=run.score or 0.0,
        checks=tuple(map(_check, run.results)),
        seed=run.seed,
        sandbox_level=run.sandbox_level or "",
        notes=tuple(run.notes),
        remarks=tuple(Remark(**remark) for remark in run.remarks),
        printed=run.printed,
        printed_hidden=run.printed_hidden,
        sandbox_s=run.sandbox_s,
        total_s=run.total_s,
    )


def _row(run_id: str, position: int, check: CheckResult) -> Result:
    return Result(
        run_id=run_id,
        check_id=check.id,
        position=position,
        outcome=check.outcome.value,
        points=check.points,
        finding=_plain(check.finding),
        misconception=check.misconception,
        evidence=_plain(check.evidence),
    )


def _plain(value: Finding | Evidence | None) -> dict[str, Any] | None:
    return None if value is None else asdict(value)


def _check(row: Result) -> CheckResult:
    return CheckResult(
        id=row.check_id,
        outcome=Outcome(row.outcome),
        points=row.points,
        finding=Finding(**row.finding) if row.finding else None,
        misconception=row.misconception,
        evidence=_evidence(row.evidence),
    )


def _evidence(stored: Mapping[str, Any] | None) -> Evidence | None:
    return Evidence(**{**stored, "index": tuple(stored["index"])}) if stored else None
