"""The trusted end of one child: its socket, its printed text, its end."""

import os
import socket
import time
from types import TracebackType
from typing import NamedTuple, Self

from app.sandbox import wire
from app.sandbox.cgroup import Group
from app.sandbox.channel import Channel
from app.sandbox.control import HELLO, Begin, Ended, Kill, Start
from app.sandbox.job import Limits
from app.sandbox.line import Line, SlotLost
from app.sandbox.wire import Kind

_ENDS_BY_ITSELF_S = 0.25
_REAP_S = 20.0
_CONFINE_S = 20.0
_DISK_MB = 16


class Bounds(NamedTuple):
    """The limits that a child is born with; one that waits serves jobs of the same bounds."""

    memory_mb: int
    disk_mb: int


def bounds(limits: Limits, file_bytes: int) -> Bounds:
    return Bounds(limits.memory_mb, disk_mb=_DISK_MB + (file_bytes >> 20) + 1)


class Fork:
    """One confined child of a slot zygote. A context manager; its end is the child's.

    It may be made ahead of its job: until ``begin`` it has met nothing of any.
    """

    def __init__(self, line: Line, group: Group | None, born_with: Bounds) -> None:
        self.bounds = born_with
        self._line = line
        self._group = group
        self._oom_kills = 0
        self.number = int.from_bytes(os.urandom(8))
        self._printed = os.memfd_create("printed", os.MFD_CLOEXEC)
        self._printed_end = 0
        ours, theirs = socket.socketpair()
        self._channel = Channel(ours)
        try:
            with theirs:
                start = Start(self.number, *born_with)
                line.start(self.number, start, [theirs.fileno(), self._printed])
        except SlotLost:
            self.close()
            raise

    def has_ended(self) -> bool:
        """Whether the child is known to be dead already; never waits."""
        return self._line.end_of(self.number, 0.0) is not None

    def begin(self, wall_s: float) -> None:
        """Start the clock of a job; SlotLost where the child failed on our side of the line."""
        self._line.tell(Begin(self.number, int(wall_s * 1000) + 1))
        self._oom_kills = self._group.oom_kills() if self._group else 0
        try:
            hello = self._channel.read(len(HELLO), time.monotonic() + _CONFINE_S)
        except (EOFError, TimeoutError, OSError):
            self.end()
            text, _ = self.printed(500)
            raise SlotLost(f"a child could not be confined: {text or 'no reason given'}") from None
        assert hello == HELLO

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if not isinstance(error, SlotLost):
                self.kill()
        finally:
            self.close()

    def close(self) -> None:
        """Let go of the descriptors; the child is dead or about to be."""
        self._line.forget(self.number)
        self._channel.close()
        os.close(self._printed)

    def send(self, header: wire.Header, arrays: list[wire.Array], deadline: float) -> None:
        """Raises TimeoutError past the deadline, OSError once the child is gone."""
        self._channel.send(header, arrays, deadline)

    def receive(
        self, kind: type[Kind], limit: int, deadline: float
    ) -> tuple[Kind, list[wire.Array]]:
        """Raises TimeoutError, EOFError or OSError if none comes, Unreadable for a bad one."""
        return self._channel.receive(kind, limit, deadline)

    def printed(self, limit: int) -> tuple[str, bool]:
        """The text printed since last asked, at most ``limit`` bytes, and whether it was cut."""
        size = os.fstat(self._printed).st_size
        start, self._printed_end = self._printed_end, size
        if size <= start:
            return "", False
        text = os.pread(self._printed, min(size - start, limit + 1), start)
        return text[:limit].decode("utf-8", "replace"), len(text) > limit

    # The end

    def kill(self) -> None:
        """Have the child killed; ``Line.await_at_most`` tells when it is gone."""
        if not self.has_ended():
            self._line.tell(Kill(self.number))

    def end(self, wait_s: float = 0.0) -> Ended:
        """See the child reaped, killing it unless it ends by itself within ``wait_s``."""
        ended = self._line.end_of(self.number, wait_s)
        if ended is None:
            self._line.tell(Kill(self.number))
            ended = self._line.end_of(self.number, _REAP_S)
        if ended is None:
            raise SlotLost(f"a killed child was not reaped within {_REAP_S:g} s", jail=True)
        return ended

    def end_by_itself(self) -> Ended:
        """For a child that closed its socket: give it the moment that an exit takes."""
        return self.end(_ENDS_BY_ITSELF_S)

    def killed_by_oom(self) -> bool:
        """Whether the kernel killed in this slot's group since the job began."""
        return self._group is not None and self._group.oom_kills() > self._oom_kills
