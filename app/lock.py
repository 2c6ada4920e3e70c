"""Locks between processes: one service and one worker for each data folder."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.errors import AlreadyRunning

_PAUSE_S = 0.05


@contextmanager
def held(path: Path, what: str, *, wait_s: float = 0.0) -> Iterator[None]:
    """Holds the lock file at ``path`` until the end of the block, or of the process.

    A child does not inherit it. Raises AlreadyRunning, saying that ``what`` runs already, if
    another process still holds it after ``wait_s`` seconds.
    """
    with path.open("a+") as file:
        _take(file.fileno(), path, what, time.monotonic() + wait_s)
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def _take(descriptor: int, path: Path, what: str, deadline: float) -> None:
    while True:
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if time.monotonic() < deadline:
                time.sleep(_PAUSE_S)
                continue
            holder = path.read_text().strip() or "another process"
            raise AlreadyRunning(
                f"{what} runs already on {path.parent} (process {holder}); "
                "end it, or set ATTEST_DATA to another folder"
            ) from error
        else:
            return
