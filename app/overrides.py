"""Overrides: points that a person gives instead of the machine's, with a reason."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import audit, people
from app.domain.outcome import Outcome
from app.domain.problem import questions_of
from app.domain.run import Json
from app.errors import Forbidden, InvalidRequest, NotFound, Outdated
from app.models import Override, Person, Result, Run, Submission
from app.models.base import now
from app.problems import content_of
from app.runs import latest

REASON_LIMIT = 2000


def set(
    session: Session,
    by: Person,
    submission_id: str,
    check_id: str,
    points: float,
    reason: str,
    *,
    seen: str | None = None,
) -> None:
    """Gives ``points`` for one check, whatever the machine found, and writes that down. Once no
    check is pending any more, the run is graded.

    ``seen`` is the ``state`` of the override that ``by`` has read; None asks for no comparison.
    Raises NotFound for a submission that ``by`` may not see, Forbidden for who is not staff of its
    course, InvalidRequest for an unknown check, points out of range and a missing reason, and
    Outdated if the override is no longer as it was seen.
    """
    submission = _submission(session, by, submission_id)
    run = session.scalars(
        select(Run).where(Run.submission_id == submission_id, latest(Run.submission_id))
    ).one()
    maximum = {check.id: check.points for check in questions_of(content_of(run.version))}
    if check_id not in maximum:
        raise InvalidRequest(f"no check `{check_id}`; expected one of {', '.join(maximum)}")
    if not 0 <= points <= maximum[check_id]:
        raise InvalidRequest(f"{points:g} points; `{check_id}` gives 0 to {maximum[check_id]:g}")
    if not reason.strip() or len(reason) > REASON_LIMIT:
        raise InvalidRequest(f"an override needs a reason of at most {REASON_LIMIT} characters")
    before = session.get(Override, (submission_id, check_id))
    if seen not in (None, state(before)):
        raise Outdated(f"the points of `{check_id}` were changed by somebody else meanwhile")
    result = session.get(Result, (run.id, check_id))
    details: dict[str, Json] = {
        "check": check_id,
        "machine": result.points if result else None,
        "before": before.points if before else None,
        "after": points,
        "reason": reason,
    }
    row = before or Override(submission_id=submission.id, check_id=check_id)
    row.points, row.reason, row.by_id, row.at = points, reason, by.id, now()
    session.add(row)
    session.flush()
    _settle(session, run)
    audit.write(session, by, "override", f"submission:{submission_id}", details)


def _settle(session: Session, run: Run) -> None:
    """A run is graded once a person has decided all that waited for one."""
    waiting = {result.check_id for result in run.results if result.outcome == Outcome.PENDING}
    decided = of(session, [run.submission_id])[run.submission_id]
    if run.status == "needs_review" and waiting <= decided.keys():
        run.status = "graded"


def state(override: Override | None) -> str:
    """What tells one state of an override from any other; "" where there is none."""
    return override.at.isoformat() if override else ""


def _submission(session: Session, by: Person, submission_id: str) -> Submission:
    found = session.get(Submission, submission_id)
    role = people.role(session, by, found.course_id) if found else None
    if found and people.is_at_least(role, "ta"):
        return found
    if found and found.person_id == by.id:
        raise Forbidden("points are given by staff of the course")
    raise NotFound(f"no submission `{submission_id}`")


def of(session: Session, submission_ids: Iterable[str]) -> Mapping[str, Mapping[str, Override]]:
    """The overrides of these submissions: by submission, then by check."""
    found: dict[str, dict[str, Override]] = defaultdict(dict)
    wanted = select(Override).where(Override.submission_id.in_(list(submission_ids)))
    for override in session.scalars(wanted):
        found[override.submission_id][override.check_id] = override
    return found
