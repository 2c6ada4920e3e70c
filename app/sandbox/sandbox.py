"""The sandbox as the rest of the program sees it: give it a job, get an answer for every call."""

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import TracebackType
from typing import Self

from app.errors import SandboxUnavailable
from app.sandbox import probe
from app.sandbox.config import LAYERS
from app.sandbox.jailer import Jail
from app.sandbox.job import Answer, Job
from app.sandbox.line import SlotLost
from app.sandbox.probe import Level
from app.sandbox.session import Session
from app.sandbox.slot import Slot

_TRIES = 2


class Sandbox:
    """Runs jobs in confined children of a warm process, at most ``slots`` at a time.

    A context manager, safe to use from several threads. Creating one takes seconds, since torch
    is imported inside; running a job takes milliseconds.

    ``standby``: how many children each slot keeps ready ahead of their job; the time to a result
    then lacks that of a fork, for some 5 MB each. ``allow_level``: the weakest isolation
    accepted. Raises SandboxUnavailable where the host offers less. ``without`` leaves out layers
    and is for tests alone: those of ``config.LAYERS``, and ``namespaces`` for level landlock on a
    host that allows more.
    """

    def __init__(
        self,
        slots: int = 1,
        *,
        standby: int = 1,
        allow_level: Level = Level.FULL,
        without: frozenset[str] = frozenset(),
    ) -> None:
        if slots < 1:
            raise ValueError(f"slots is {slots}, expected at least 1")
        if standby < 0:
            raise ValueError(f"standby is {standby}, expected at least 0")
        if unknown := without - LAYERS - {"namespaces"}:
            raise ValueError(f"no layers {sorted(unknown)}, expected some of {sorted(LAYERS)}")
        found = probe.require(allow_level)
        self.level = Level.LANDLOCK if "namespaces" in without else found
        self._start = partial(Jail, self.level, slots, standby, without)
        self._replacing = threading.Lock()
        self._closed = False
        self._jail = self._start()
        self._places = [_Place(number, self._jail) for number in range(slots)]
        self._free: queue.LifoQueue[_Place] = queue.LifoQueue()
        for place in self._places:
            self._free.put(place)

    def run(self, job: Job) -> list[Answer]:
        """One answer for each call, in order; waits for a free slot first.

        Raises SandboxUnavailable if the slot was lost twice or the sandbox is closed, and
        ValueError or TypeError for a job that makes no sense (a file name that leads elsewhere,
        an argument that cannot be sent).
        """
        with self._place() as place:
            for tried in range(1, _TRIES + 1):
                place.move_to(self._jail)
                try:
                    return Session(job, place.slot).run()
                except SlotLost as loss:
                    place.slot.lose()
                    if self._closed:
                        raise SandboxUnavailable("the sandbox was closed during a job") from loss
                    if loss.jail:
                        self._replace(place.jail)
                    if tried == _TRIES:
                        raise SandboxUnavailable(f"a job was lost twice: {loss}") from loss
        raise AssertionError("every try returns or raises")

    @contextmanager
    def _place(self) -> Iterator["_Place"]:
        place = self._free.get()
        try:
            if self._closed:
                raise SandboxUnavailable("the sandbox is closed")
            yield place
        finally:
            self._free.put(place)

    def _replace(self, lost: Jail) -> None:
        """Start a new jail, once, however many slots notice the loss."""
        with self._replacing:
            if self._jail is lost and not self._closed:
                lost.end()
                self._jail = self._start()

    def close(self) -> None:
        """End the jail; jobs still running or waiting raise SandboxUnavailable."""
        with self._replacing:
            if self._closed:
                return
            self._closed = True
            self._jail.end()
        for place in [self._free.get() for _ in self._places]:  # each once its job has failed
            place.move_to(self._jail)
            place.slot.close()
            self._free.put(place)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Place:
    """The right to use one slot, in the jail that was current when last used."""

    def __init__(self, number: int, jail: Jail) -> None:
        self.number = number
        self.jail = jail

    @property
    def slot(self) -> Slot:
        return self.jail.slots[self.number]

    def move_to(self, jail: Jail) -> None:
        """Leave a jail that was replaced."""
        if jail is not self.jail:
            self.slot.close()
            self.jail = jail
