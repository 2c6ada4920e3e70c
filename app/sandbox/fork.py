"""The trusted end of one child: its socket, its printed text, its end."""

import os
import socket
import time
from types import TracebackType
from typing import Self

from app.sandbox import wire
from app.sandbox.cgroup import Group
from app.sandbox.control import HELLO, READY, Ended, Kill, Start
from app.sandbox.job import Limits
from app.sandbox.wire import Kind

_ENDS_BY_ITSELF_S = 0.25
_REAP_S = 20.0
_CONFINE_S = 20.0
_DISK_MB = 16


class SlotLost(Exception):
    """The slot's zygote, or the whole jail, died under a job; ``jail`` tells which."""

    def __init__(self, message: str, *, jail: bool = False) -> None:
        super().__init__(message)
        self.jail = jail


class Fork:
    """One confined child of a slot zygote. A context manager; its end is the child's."""

    def __init__(
        self, control: socket.socket, group: Group | None, limits: Limits, file_bytes: int
    ) -> None:
        self._control = control
        self._group = group
        self._number = int.from_bytes(os.urandom(8))
        self._ended: Ended | None = None
        self._limits = limits
        self._oom_kills = group.oom_kills() if group else 0
        if group:
            group.limit_memory(limits.memory_mb)
        self._printed = os.memfd_create("printed", os.MFD_CLOEXEC)
        self._printed_end = 0
        self._socket, theirs = socket.socketpair()
        try:
            with theirs:
                self._start(theirs, file_bytes)
        except SlotLost:
            self._close()
            raise

    def _start(self, theirs: socket.socket, file_bytes: int) -> None:
        wall_s = self._limits.wall_s
        start = Start(
            fork=self._number,
            wall_ms=int(wall_s * 1000) + 1,
            cpu_s=int(2 * wall_s) + 2,  # two threads' worth: the wall clock comes first
            memory_mb=self._limits.memory_mb,
            disk_mb=_DISK_MB + (file_bytes >> 20) + 1,
        )
        try:
            descriptors = [theirs.fileno(), self._printed]
            socket.send_fds(self._control, [start.pack()], descriptors)
        except OSError as error:
            raise SlotLost(f"the jail is gone: {error}", jail=True) from error

    def await_confined(self) -> None:
        """Wait until the child is confined; SlotLost where it failed on our side of the line."""
        try:
            hello = self._read(len(HELLO), time.monotonic() + _CONFINE_S)
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
                self.end()
        finally:
            self._close()

    def _close(self) -> None:
        self._socket.close()
        os.close(self._printed)

    # Messages

    def send(self, header: wire.Header, arrays: list[wire.Array], deadline: float) -> None:
        """Raises TimeoutError past the deadline, OSError once the child is gone."""
        for part in wire.parts(header, arrays):
            self._socket.settimeout(_left(deadline))
            self._socket.sendall(part)

    def receive(
        self, kind: type[Kind], limit: int, deadline: float
    ) -> tuple[Kind, list[wire.Array]]:
        """Raises TimeoutError, EOFError or OSError if none comes, Unreadable for a bad one."""
        return wire.receive(lambda size: self._read(size, deadline), kind, limit)

    def _read(self, size: int, deadline: float) -> bytearray:
        buffer = bytearray(size)
        view = memoryview(buffer)
        while view:
            # Never recvmsg: a descriptor the child sends must not arrive here.
            self._socket.settimeout(_left(deadline))
            got = self._socket.recv_into(view)
            if got == 0:
                raise EOFError
            view = view[got:]
        return buffer

    def printed(self, limit: int) -> tuple[str, bool]:
        """The text printed since last asked, at most ``limit`` bytes, and whether it was cut."""
        size = os.fstat(self._printed).st_size
        start, self._printed_end = self._printed_end, size
        text = os.pread(self._printed, max(0, min(size - start, limit + 1)), start)
        return text[:limit].decode("utf-8", "replace"), len(text) > limit

    # The end

    def end(self, wait_s: float = 0.0) -> Ended:
        """See the child reaped, killing it unless it ends by itself within ``wait_s``."""
        if self._ended is None:
            self._ended = self._receive_end(wait_s) if wait_s else None
        if self._ended is None:
            self._kill()
            self._ended = self._receive_end(_REAP_S)
        if self._ended is None:
            raise SlotLost(f"a killed child was not reaped within {_REAP_S:g} s", jail=True)
        return self._ended

    def end_by_itself(self) -> Ended:
        """For a child that closed its socket: give it the moment that an exit takes."""
        return self.end(_ENDS_BY_ITSELF_S)

    def killed_by_oom(self) -> bool:
        """Whether the kernel killed in this slot's group since the fork began."""
        return self._group is not None and self._group.oom_kills() > self._oom_kills

    def _kill(self) -> None:
        try:
            self._control.send(Kill(self._number).pack())
        except OSError as error:
            raise SlotLost(f"the jail is gone: {error}", jail=True) from error

    def _receive_end(self, seconds: float) -> Ended | None:
        deadline = time.monotonic() + seconds
        while True:
            try:
                self._control.settimeout(_left(deadline))
                message = self._control.recv(64)
            except TimeoutError:
                return None
            except OSError as error:
                raise SlotLost(f"the jail is gone: {error}", jail=True) from error
            if not message:
                raise SlotLost("the jail has ended", jail=True)
            if message == READY:
                raise SlotLost("the slot's zygote died and was replaced")
            ended = Ended.unpack(message)
            if ended is not None and ended.fork == self._number:
                return ended


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
