"""The queue as a table: put in, take out, look at."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import Engine, delete, event, func, select, update
from sqlalchemy.orm import Session

from app.domain.run import Json
from app.failpoint import failpoint
from app.jobs.bell import ring
from app.models import Job
from app.models.base import insertion, now

INTERACTIVE = "interactive"
WORKER = "worker.sock"  # rung for the worker: there is a job
WAITERS = "waiters.sock"  # rung for the API: a run or a proof has changed


@dataclass(frozen=True)
class Stats:
    """What waits and since when; a job that is not due yet does not wait."""

    waiting: int
    running: int
    oldest_waiting: datetime | None


def enqueue(
    session: Session,
    name: str,
    payload: Mapping[str, Json],
    *,
    queue: str = INTERACTIVE,
    priority: int = 0,
    run_at: datetime | None = None,
) -> None:
    """Adds a job in the caller's transaction; once that is committed, a worker is woken."""
    moment = now()
    job = {
        "name": name,
        "payload": dict(payload),
        "queue": queue,
        "priority": priority,
        "run_at": run_at or moment,
        "enqueued_at": moment,
    }
    session.execute(_JOB, job)
    ring_after_commit(session, WORKER)


_JOB = insertion(Job)


def announce(session: Session) -> None:
    """Tells those who wait for a change, once the caller's transaction is committed."""
    ring_after_commit(session, WAITERS)


def ring_after_commit(session: Session, name: str) -> None:
    """Rings the bell of that name once the caller's transaction is committed."""
    if not session.info.get("rings"):
        event.listen(session, "after_commit", _ring_all)
    session.info.setdefault("rings", set()).add(name)


def _ring_all(session: Session) -> None:
    if WORKER in session.info["rings"]:
        failpoint("after-enqueue")
    for name in session.info["rings"]:
        ring(bell_path(session, name))


def bell_path(session: Session, name: str) -> Path:
    """Where the bell of that name is: beside the database."""
    return beside(session.get_bind().engine, name)


def beside(engine: Engine, name: str) -> Path:
    """The file of that name in the folder of the database."""
    database = engine.url.database
    assert database
    return Path(database).with_name(name)


def live_tickets(session: Session) -> set[str]:
    """The tickets of all jobs that will still be delivered."""
    return {str(payload.get("ticket")) for payload in session.scalars(select(Job.payload))}


def recover(session: Session) -> int:
    """Makes jobs wait again that a dead worker had taken up; their number.

    Only for the one process that holds the worker's lock.
    """
    taken = update(Job).where(Job.running).values(running=False)
    return session.execute(taken).rowcount  # type: ignore[attr-defined, no-any-return]


def claim(session: Session) -> Job | None:
    """Takes up the next job that is due: the highest priority first, then the oldest.

    A job that was taken up before without an end may be what ended its worker: it runs alone, so
    that no other job shares its fate.
    """
    running = session.scalars(select(Job.deliveries).where(Job.running)).all()
    if any(deliveries > 1 for deliveries in running):
        return None
    due = select(Job).where(~Job.running, Job.run_at <= now())
    job = session.scalar(due.order_by(Job.priority.desc(), Job.id).limit(1))
    if job is None or (job.deliveries and running):
        return None
    job.running = True
    job.deliveries += 1
    return job


def finish(session: Session, job_id: int) -> None:
    """The job is done: it is forgotten."""
    session.execute(delete(Job).where(Job.id == job_id))


def postpone(session: Session, job_id: int, run_at: datetime) -> None:
    """The job is to be delivered again, from ``run_at`` on."""
    session.execute(update(Job).where(Job.id == job_id).values(running=False, run_at=run_at))


def next_due(session: Session) -> datetime | None:
    """When the next job that waits is, or was, due."""
    return session.scalar(select(func.min(Job.run_at)).where(~Job.running))


def stats(session: Session) -> Stats:
    """Counts of the whole queue."""
    due = (~Job.running, Job.run_at <= now())
    waiting, oldest = session.execute(
        select(func.count(), func.min(Job.enqueued_at)).where(*due)
    ).one()
    running = session.scalar(select(func.count()).where(Job.running)) or 0
    return Stats(waiting, running, oldest)


def healthy(session: Session) -> bool:
    """Whether the queue can be read."""
    session.scalar(select(Job.id).limit(1))
    return True
