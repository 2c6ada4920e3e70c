"""The trusted end of a job's socket: whole messages or an error, by a deadline."""

import select
import socket
import time

from app.sandbox import wire
from app.sandbox.wire import Kind

_CHUNK = 1 << 16


class Channel:
    """Sends and reads messages. What hostile code does at the other end cannot make it wait past
    a deadline, or hold more than the sizes that ``wire`` has checked."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._socket.setblocking(False)
        self._poller = select.poll()
        self._poller.register(self._socket, select.POLLIN)
        self._unread = bytearray()

    def close(self) -> None:
        self._socket.close()

    def send(self, header: wire.Header, arrays: list[wire.Array], deadline: float) -> None:
        """Raises TimeoutError past the deadline, OSError once the child is gone."""
        for part in wire.parts(header, arrays):
            view = memoryview(part)
            while view:
                try:
                    view = view[self._socket.send(view) :]
                except BlockingIOError:
                    self._wait(select.POLLOUT, deadline)

    def receive(
        self, kind: type[Kind], limit: int, deadline: float
    ) -> tuple[Kind, list[wire.Array]]:
        """Raises TimeoutError, EOFError or OSError if none comes, Unreadable for a bad one."""
        return wire.receive(lambda size: self.read(size, deadline), kind, limit)

    def read(self, size: int, deadline: float) -> bytes | bytearray:
        """Exactly ``size`` bytes; what came along with them waits for the next read."""
        while len(self._unread) < min(size, _CHUNK):
            self._wait(select.POLLIN, deadline)
            # Never recvmsg: a descriptor the child sends must not arrive here.
            got = self._socket.recv(_CHUNK)
            if not got:
                raise EOFError
            self._unread += got
        known = self._unread[:size]
        del self._unread[:size]
        return known if len(known) == size else self._read_on(known, size, deadline)

    def _read_on(self, known: bytearray, size: int, deadline: float) -> bytearray:
        """The rest of a large array, straight into its place."""
        buffer = bytearray(size)
        buffer[: len(known)] = known
        view = memoryview(buffer)[len(known) :]
        while view:
            self._wait(select.POLLIN, deadline)
            got = self._socket.recv_into(view)
            if not got:
                raise EOFError
            view = view[got:]
        return buffer

    def _wait(self, event: int, deadline: float) -> None:
        """Until the socket is ready. The deadline is looked at before every single read: a
        child that sends a byte at a time gains nothing."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._poller.modify(self._socket, event)
        if not self._poller.poll(left * 1000):
            raise TimeoutError
