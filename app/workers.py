"""Workers as rows: who grades, how strongly isolated, and whether anybody does."""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from app import jobs
from app.models import Version, Worker
from app.models.base import now


@dataclass(frozen=True)
class Readiness:
    """Whether submissions are graded now. ``reasons`` is empty if they are.

    ``proving`` counts the problem versions that wait for a proof; ``oldest_waiting_s`` is the age
    of the oldest job that is due, 0 if none waits.
    """

    reasons: list[str]
    sandbox_level: str | None
    workers: int
    waiting: int
    oldest_waiting_s: float
    proving: int

    @property
    def ready(self) -> bool:
        return not self.reasons


def register(session: Session, host: str, pid: int) -> str:
    """A row for a worker that starts; its id."""
    moment = now()
    worker = Worker(host=host, pid=pid, started_at=moment, heartbeat_at=moment)
    session.add(worker)
    session.flush()
    return worker.id


def warm(session: Session, worker_id: str, level: str) -> None:
    """The worker grades from now on, isolated at ``level``."""
    moment = now()
    values = {"level": level, "warm_since": moment, "heartbeat_at": moment}
    session.execute(update(Worker).where(Worker.id == worker_id).values(**values))


def beat(session: Session, worker_id: str) -> None:
    """The worker is alive."""
    session.execute(update(Worker).where(Worker.id == worker_id).values(heartbeat_at=now()))


def remove(session: Session, host: str, pid: int) -> None:
    """That process is no worker any more."""
    session.execute(delete(Worker).where(Worker.host == host, Worker.pid == pid))


def remove_all(session: Session) -> None:
    """Forgets every worker; only for the holder of the worker's lock."""
    session.execute(delete(Worker))


def readiness(session: Session, stalled_after: float) -> Readiness:
    """What can be told of the queue and of the workers heard of in ``stalled_after`` seconds."""
    recent = Worker.heartbeat_at > now() - timedelta(seconds=stalled_after)
    alive = session.scalars(select(Worker).where(recent)).all()
    warm = [worker for worker in alive if worker.warm_since]
    stats = jobs.stats(session)
    proving = session.scalars(select(Version.id).where(Version.state == "proving")).all()
    oldest = stats.oldest_waiting
    return Readiness(
        reasons=[] if warm else ["the worker is starting" if alive else "no worker runs"],
        sandbox_level=warm[0].level if warm else None,
        workers=len(warm),
        waiting=stats.waiting,
        oldest_waiting_s=(now() - oldest).total_seconds() if oldest else 0.0,
        proving=len(proving),
    )
