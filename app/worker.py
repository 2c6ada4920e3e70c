"""The process that grades: it holds the sandbox and the reference, and answers to no network.

``python -m app.worker`` is started by ``attest serve``, or by hand as ``attest worker``.
"""

import argparse
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from types import FrameType

from app import db, jobs, logs, problem_folder, problems, runs, schema, workers
from app.catalogue.source import read_source
from app.db import Sessions, database_url, snapshot, transaction
from app.domain.run import Json
from app.errors import AttestError, DatabaseUnfit, Place
from app.failpoint import failpoint
from app.grading.grade import grade
from app.grading.proof import Proof
from app.grading.prove import prove
from app.lock import held
from app.models import Version
from app.models.base import now
from app.sandbox.host import open_sandbox
from app.sandbox.sandbox import Sandbox
from app.settings import Settings

LOCK = "worker.lock"
UNUSABLE = 3
"""Exit code for what starting again would not mend: no isolation, no database, another worker."""

log = logging.getLogger("attest.worker")


def run(settings: Settings, *, slots: int | None = None, lock_wait_s: float = 0.0) -> None:
    """Grades and proves until SIGTERM or SIGINT; then what is running ends first.

    Raises DatabaseUnfit, AlreadyRunning and SandboxUnavailable.
    """
    stop = threading.Event()
    sessions = db.sessions(settings)
    schema.require_current(sessions)
    lock = Path(str(database_url(settings).database)).with_name(LOCK)
    with held(lock, "a worker", wait_s=lock_wait_s), _stopped_by_signals(sessions, stop):
        _work(settings, sessions, slots or settings.jobs.slots, stop)


def _work(settings: Settings, sessions: Sessions, slots: int, stop: threading.Event) -> None:
    worker_id = take_over(sessions)
    with open_sandbox(settings, slots) as sandbox:
        with transaction(sessions) as session:
            workers.warm(session, worker_id, sandbox.level)
        log.info("grading with %s slots at isolation level %s", slots, sandbox.level)
        grader = Grader(sessions, sandbox, settings.jobs.max_tries)
        beside = [
            _beside(lambda: _beat(settings, sessions, worker_id, stop)),
            _beside(lambda: problem_folder.watch(sessions, settings.problems_folder, stop)),
        ]
        handlers = {"grade": grader.grade, "prove": grader.prove}
        jobs.run_worker(sessions, handlers, slots, stop, settings.jobs)
        for thread in beside:
            thread.join()
    with transaction(sessions) as session:
        workers.remove(session, socket.gethostname(), os.getpid())


def take_over(sessions: Sessions) -> str:
    """The row of a new worker, which begins with what a dead one left. Only for the holder of
    the worker's lock."""
    with transaction(sessions) as session:
        workers.remove_all(session)
        jobs.recover(session)
        again = runs.recover(session) + runs.reconcile(session, now())
        live = jobs.live_tickets(session)
        for version in problems.unproven(session):
            if version.id not in live:
                problems.order_proof(session, version)
        if again:
            log.info("%s runs are started again", again)
        return workers.register(session, socket.gethostname(), os.getpid())


@contextmanager
def _stopped_by_signals(sessions: Sessions, stop: threading.Event) -> Iterator[None]:
    """The first SIGTERM or SIGINT ends in peace, the second at once."""

    def end(number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            os._exit(128 + number)
        stop.set()
        jobs.wake(sessions)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _thread(target: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread


def _beside(target: Callable[[], None]) -> threading.Thread:
    """A thread that ends where the database does: whoever takes up jobs says so for all."""

    def run() -> None:
        with suppress(DatabaseUnfit):
            target()

    return _thread(run)


def _beat(settings: Settings, sessions: Sessions, worker_id: str, stop: threading.Event) -> None:
    """Says that the worker is alive, and looks for runs that no job would start."""
    looked = now()
    while not stop.wait(settings.jobs.heartbeat_interval):
        with transaction(sessions, durable=False) as session:
            workers.beat(session, worker_id)
            if now() - looked >= timedelta(seconds=settings.jobs.reconcile_interval):
                looked = now()
                runs.reconcile(session, looked - timedelta(seconds=settings.jobs.reissue_after))


@dataclass(frozen=True)
class Grader:
    """What jobs do. No transaction is open while the sandbox runs."""

    sessions: Sessions
    sandbox: Sandbox
    max_tries: int

    def grade(self, run_id: str, ticket: str) -> None:
        """Grades one run, unless that was decided elsewhere; raises to be called again."""
        with transaction(self.sessions, durable=False) as session:
            begun = runs.begin(session, run_id, ticket, self.max_tries)
        if begun is None:
            return
        failpoint("after-begin")
        failpoint(f"after-begin-{run_id}")
        try:
            content = problems.content_of(begun.version)
            result = grade(content, begun.work, self.sandbox, begun.seed)
        except Exception as error:
            lasting = isinstance(error, AttestError) and not error.retry
            final = lasting or begun.tries >= self.max_tries
            with transaction(self.sessions) as session:
                runs.fail(session, run_id, begun.fence, _sentence(error), final=final)
            if not final:
                raise
            log.exception("run %s cannot be graded", run_id)
        else:
            with transaction(self.sessions) as session:
                runs.publish(session, run_id, begun.fence, result)

    def prove(self, version_id: str, ticket: str) -> None:
        """Proves one version, then serves or refuses it; raises to be called again."""
        assert ticket == version_id
        with snapshot(self.sessions) as session:
            version = problems.version_with_yaml(session, version_id)
        if version.state != "proving":
            return
        places, proof = self._proof(version)
        with transaction(self.sessions) as session:
            if proof is None or places:
                problems.refuse(session, version_id, places)
            else:
                problems.publish(session, version_id, _as_json(proof))

    def _proof(self, version: Version) -> tuple[list[Place], Proof | None]:
        try:
            proof = prove(problems.content_of(version), self.sandbox)
        except AttestError as error:
            if error.retry:
                raise
            return [Place(version.path, 1, 1, str(error))], None
        source = read_source(Path(version.path), version.yaml)
        return [source.place(flaw.location, flaw.message) for flaw in proof.flaws], proof


def _sentence(error: Exception) -> str:
    return str(error) if isinstance(error, AttestError) else f"{type(error).__name__}: {error}"


def _as_json(proof: Proof) -> dict[str, Json]:
    caught: dict[str, Json] = {
        name: {**asdict(row), "caught": list(row.caught)}
        for name, row in proof.misconceptions.items()
    }
    return {"accepted": dict(proof.accepted), "misconceptions": caught}


# The process


def main() -> None:
    """The child of ``attest serve``: its standard input is a pipe that ends with the parent."""
    parser = argparse.ArgumentParser(prog="python -m app.worker")
    parser.add_argument("--slots", type=int)
    slots = parser.parse_args().slots
    logs.to_stderr()
    _thread(_end_with_parent)
    settings = Settings()
    try:
        run(settings, slots=slots, lock_wait_s=settings.jobs.drain_timeout)
    except AttestError as error:
        log.error("%s", error)
        sys.exit(UNUSABLE)


def _end_with_parent() -> None:
    # Jobs that were running are recovered by the next worker, so there is nothing to wait for.
    while os.read(sys.stdin.fileno(), 64):
        pass
    os._exit(1)


if __name__ == "__main__":
    main()
