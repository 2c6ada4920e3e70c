"""The worker as a child process: started again whenever it dies, ended in peace when we end."""

import logging
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress

from app import workers
from app.db import Sessions, transaction
from app.errors import DatabaseUnfit
from app.settings import Settings

UNUSABLE = 3  # as in app.worker, which this process must not import
FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 30.0
SOUND_AFTER_S = 10.0
GRACE_S = 5.0

log = logging.getLogger("attest.serve")


class WorkerProcess:
    """Keeps one ``python -m app.worker`` running from ``start`` to ``stop``.

    ``gave_up`` is set when the worker says that starting it again would mend nothing.
    """

    def __init__(self, settings: Settings, sessions: Sessions, slots: int | None) -> None:
        self._settings = settings
        self._sessions = sessions
        self._command = [sys.executable, "-P", "-m", "app.worker"]
        if slots is not None:
            self._command += ["--slots", str(slots)]
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="worker", daemon=True)
        self.gave_up = threading.Event()

    def start(self) -> None:
        self._start_process()
        self._thread.start()

    def stop(self) -> None:
        """Lets the worker end what it is grading, for as long as the settings allow."""
        self._stopping.set()
        process = self._process
        assert process is not None
        process.terminate()
        try:
            process.wait(self._settings.jobs.drain_timeout + GRACE_S)
        except subprocess.TimeoutExpired:
            log.warning("the worker did not end in time and is killed; its runs start again later")
            process.kill()
        self._thread.join()

    def _start_process(self) -> None:
        # Its own process group: Ctrl-C reaches this process alone, which then ends the worker.
        # Its standard input is never written to: it ends when this process does, however that is.
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter
            self._command,
            stdin=subprocess.PIPE,
            env={**os.environ, **_environment(self._settings)},
            process_group=0,
        )

    def _keep(self) -> None:
        pause = FIRST_PAUSE_S
        while True:
            process, began = self._process, time.monotonic()
            assert process is not None
            code = process.wait()
            if self._stopping.is_set():
                return
            if code == UNUSABLE:
                self.gave_up.set()
                return
            self._forget(process.pid)
            if time.monotonic() - began > SOUND_AFTER_S:
                pause = FIRST_PAUSE_S
            log.warning("the worker ended with code %s; the next starts in %s s", code, pause)
            if self._stopping.wait(pause):
                return
            pause = min(2 * pause, LONGEST_PAUSE_S)
            self._start_process()

    def _forget(self, pid: int) -> None:
        with suppress(DatabaseUnfit), transaction(self._sessions) as session:
            workers.remove(session, socket.gethostname(), pid)


def _environment(settings: Settings) -> dict[str, str]:
    """The settings that flags may have changed, for the child."""
    found = {
        "ATTEST_DATA": settings.data.absolute(),
        "ATTEST_PROBLEMS": settings.problems_folder.absolute(),
        "ATTEST_DATABASE_URL": settings.database_url,
        "ATTEST_SANDBOX_ALLOW_LEVEL": settings.sandbox_allow_level,
    }
    return {name: str(value) for name, value in found.items() if value is not None}
