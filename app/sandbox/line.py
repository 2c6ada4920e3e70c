"""The trusted end of one slot's control socket: what its forks are told, and their ends."""

import select
import socket
import time
from collections.abc import Callable, Collection, Sequence

from app.sandbox.control import READY, Ended, Message, Retire, pack, unpack


class SlotLost(Exception):
    """The slot's zygote, or the whole jail, died under a job; ``jail`` tells which."""

    def __init__(self, message: str, *, jail: bool = False) -> None:
        super().__init__(message)
        self.jail = jail


class Line:
    """Tells the slot zygote what to do and remembers which children it has not yet reaped."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._control.setblocking(True)
        self._poller = select.poll()
        self._poller.register(control, select.POLLIN)
        self._ends: dict[int, Ended | None] = {}  # None: still to come
        self._unasked: set[int] = set()
        self._renewing = False

    def start(self, fork: int, message: Message, descriptors: Sequence[int]) -> None:
        """Have a child forked; its end will be told."""
        self._ends[fork] = None
        try:
            socket.send_fds(self._control, [pack(message)], descriptors)
        except OSError as error:
            raise SlotLost(f"the jail is gone: {error}", jail=True) from error

    def tell(self, message: Message) -> None:
        try:
            self._control.send(pack(message))
        except OSError as error:
            raise SlotLost(f"the jail is gone: {error}", jail=True) from error

    def end_of(self, fork: int, seconds: float) -> Ended | None:
        """The end of one child; None if it does not come within ``seconds``."""
        self._hear_until(lambda: self._ends[fork] is not None, seconds)
        return self._ends[fork]

    def forget(self, fork: int) -> None:
        """Nobody will ask for this end any more; that it comes is still waited for."""
        self._unasked.add(fork)
        self._tidy()

    def _tidy(self) -> None:
        for fork in [f for f in self._unasked if self._ends.get(f) is not None]:
            self._unasked.remove(fork)
            del self._ends[fork]

    def await_at_most(self, count: int, beside: Collection[int], seconds: float) -> None:
        """Wait until no more than ``count`` children but those in ``beside`` are left unreaped;
        SlotLost if they stay."""

        def few() -> bool:
            left = (fork for fork, end in self._ends.items() if end is None and fork not in beside)
            return sum(1 for _ in left) <= count

        if not self._hear_until(few, seconds):
            raise SlotLost(f"a killed child was not reaped within {seconds:g} s", jail=True)

    def start_over(self) -> None:
        """The zygote is gone, and with it every child."""
        self._ends.clear()
        self._unasked.clear()

    def renew(self, seconds: float) -> None:
        """Have the zygote replaced by a fresh one, together with all its children."""
        self.start_over()
        self._renewing = True
        self.tell(Retire())
        if not self._hear_until(lambda: not self._renewing, seconds):
            raise SlotLost(f"no new zygote within {seconds:g} s", jail=True)

    def close(self) -> None:
        self._control.close()

    def _hear_until(self, enough: Callable[[], bool], seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not enough():
            if not self._hear(max(0.0, deadline - time.monotonic())):
                return False
        return True

    def _hear(self, seconds: float) -> bool:
        """Take in one message; False if none comes."""
        if not self._poller.poll(seconds * 1000):
            return False
        try:
            text = self._control.recv(64)
        except OSError as error:
            raise SlotLost(f"the jail is gone: {error}", jail=True) from error
        if not text:
            raise SlotLost("the jail has ended", jail=True)
        if text == READY:
            if self._renewing:
                self._renewing = False
                return True
            raise SlotLost("the slot's zygote died and was replaced")
        message = unpack(text)
        if isinstance(message, Ended) and message.fork in self._ends:
            self._ends[message.fork] = message
            self._tidy()
        return True
