"""A local socket by which whoever enqueues wakes the worker; a lost ring costs one poll."""

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path


class Bell:
    """The worker's end: ``wait`` returns when somebody rang, or after a time."""

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self._path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        with _short(path) as address:
            self._socket.bind(address)
        path.chmod(0o600)

    def wait(self, seconds: float) -> None:
        """Returns at the next ring, or after ``seconds``."""
        self._socket.settimeout(max(seconds, 0.001))
        with contextlib.suppress(TimeoutError):
            self._socket.recv(1)

    def close(self) -> None:
        self._path.unlink(missing_ok=True)
        self._socket.close()


def ring(path: Path) -> None:
    """Wakes the worker that listens at ``path``, if there is one."""
    with (
        contextlib.suppress(OSError),
        _short(path) as address,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender,
    ):
        sender.setblocking(False)
        sender.sendto(b"!", address)


@contextlib.contextmanager
def _short(path: Path) -> Iterator[str]:
    """An address for ``path``, however deep it lies: the system takes 107 bytes at most."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
