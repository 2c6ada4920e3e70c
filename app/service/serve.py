"""The life of ``attest serve``, from the lock to the last drained job."""

import ipaddress
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn

from app import db, problem_folder, schema, workers
from app.db import Sessions, make_folder, snapshot, transaction
from app.demo import built_in, course
from app.demo.course import Keys
from app.errors import AttestError
from app.lock import held
from app.models import Problem
from app.service import announce
from app.service.child import WorkerProcess
from app.service.listener import address, listening
from app.settings import Settings

LOCK = "serve.lock"
LOOK_EVERY_S = 0.05


def serve(settings: Settings, *, slots: int | None, worker: bool, demo: bool, once: bool) -> int:
    """Serves until SIGTERM or Ctrl-C; with ``once``, until the built-in submissions are graded.

    Raises AttestError where the service cannot start: another one on the same data, an address in
    use, an unfit database, no isolation, no folder of problems.
    """
    make_folder(settings.data)
    if not settings.problems_folder.is_dir():
        raise AttestError(f"{settings.problems_folder} is no folder; ATTEST_PROBLEMS names one")
    if demo and is_loopback(settings.host) and not _says_level(settings):
        settings = settings.model_copy(update={"sandbox_allow_level": "landlock"})
    with (
        held(settings.data / LOCK, "`attest serve`"),
        listening(settings.host, settings.port) as listener,
    ):
        announce.remove_file(settings.data)
        sessions = db.sessions(settings)
        schema.upgrade(sessions)
        service = _Service(settings, sessions, listener, once)
        try:
            return service.run(WorkerProcess(settings, sessions, slots) if worker else None, demo)
        finally:
            announce.remove_file(settings.data)


class _Service:
    def __init__(
        self, settings: Settings, sessions: Sessions, listener: socket.socket, once: bool
    ) -> None:
        self.settings = settings
        self.sessions = sessions
        self.listener = listener
        self.once = once
        self.url = address(settings.host, listener)
        self.stop = threading.Event()
        self.failure: BaseException | None = None

    def run(self, worker: WorkerProcess | None, demo: bool) -> int:
        from app.main import create_app  # what refuses to start should not wait for this

        with _signals(self.stop):
            if worker:
                worker.start()
            try:
                keys = self._prepare(demo)
                server = _Server(_uvicorn(create_app(self.settings), self.settings))
                telling = threading.Thread(
                    target=self._tell, args=(server, worker, keys), daemon=True
                )
                telling.start()
                if not self.stop.is_set():
                    server.run(sockets=[self.listener])
                    if not server.started:
                        raise AttestError("the API could not start; its reason stands above")
                self.stop.set()
                telling.join()
            finally:
                if worker:
                    worker.stop()
        if self.failure:
            raise self.failure
        return 0

    def _prepare(self, demo: bool) -> Keys | None:
        """The demo comes first: the folder's problems belong to the first course."""
        keys = None
        if demo:
            with transaction(self.sessions) as session:
                keys = course.seed(session)
        problem_folder.scan(self.sessions, self.settings.problems_folder)
        return keys

    def _tell(
        self, server: uvicorn.Server, worker: WorkerProcess | None, keys: Keys | None
    ) -> None:
        try:
            level = self._wait_until_ready(server, worker)
            if not self.stop.is_set():
                self._announce(level, keys, graded=worker is not None)
            if worker:
                self._watch(worker)
        except BaseException as error:  # noqa: BLE001 - it is raised where the service ends
            if not server.should_exit:  # what fails because the service ends is no failure
                self.failure = error
        finally:
            if self.once or self.failure:
                server.should_exit = True

    def _announce(self, level: str | None, keys: Keys | None, *, graded: bool) -> None:
        lines = [*announce.demo_lines(self.url, keys)] if keys else []
        if keys and self._has_built_in_problem():
            if graded:
                for text in built_in.grade_built_ins(self.url, keys.built_in):
                    print(text, flush=True)
            lines += announce.curl_lines(self.url, keys)
        announce.write_file(self.settings.data, self.url, level, keys)
        for line in (*lines, f"READY {self.url}"):
            print(line, flush=True)

    def _has_built_in_problem(self) -> bool:
        """Whether the folder of problems has the one that the built-in submissions are for."""
        with snapshot(self.sessions) as session:
            return session.get(Problem, built_in.PROBLEM) is not None

    def _wait_until_ready(self, server: uvicorn.Server, worker: WorkerProcess | None) -> str | None:
        """Waits for the API and, where there is one, a warm worker with nothing left to prove."""
        while not self.stop.wait(LOOK_EVERY_S):
            if worker:
                _refuse_unusable(worker)
            if not server.started:
                continue
            with snapshot(self.sessions) as session:
                found = workers.readiness(session, self.settings.jobs.stalled_after)
            if not worker or (found.ready and not found.proving):
                return found.sandbox_level
        return None

    def _watch(self, worker: WorkerProcess) -> None:
        """Ends the service when its worker cannot be started any more."""
        while not self.once and not self.stop.wait(1.0):
            _refuse_unusable(worker)


class _Server(uvicorn.Server):
    """Ends the requests that wait for a grading as soon as a signal comes."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.config.app.state.changes.release()  # type: ignore[union-attr]
        super().handle_exit(sig, frame)


def _refuse_unusable(worker: WorkerProcess) -> None:
    if worker.gave_up.is_set():
        raise AttestError("the worker cannot start; its reason stands above")


def _uvicorn(app: object, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=int(settings.jobs.drain_timeout),
    )


@contextmanager
def _signals(stop: threading.Event) -> Iterator[None]:
    """While uvicorn runs the signals are its own; it sends them again when it has ended."""

    def end(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _says_level(settings: Settings) -> bool:
    return "sandbox_allow_level" in settings.model_fields_set


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach ``host``."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
