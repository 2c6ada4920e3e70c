"""Requests that wait for a change: of a submission's run, or of a problem's proof.

Any number of them wait without a thread of their own and without a query of their own: one thread
looks, whenever a worker rang (``app.jobs.bell``) and twice a second as a safety net, and wakes
those whose row has changed.
"""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, cast

from fastapi import Depends, Request
from sqlalchemy.orm import Session

from app.db import Sessions, snapshot
from app.jobs.bell import Bell, ring

POLL_S = 0.5
IDLE_S = 5.0  # the bell itself may have been deleted

Reader = Callable[[Session, Collection[str]], dict[str, str]]
"""States of rows by id, such as ``submissions.statuses``."""

log = logging.getLogger(__name__)


@dataclass(eq=False)
class _Watcher:
    reader: Reader
    id: str
    state: str | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)


class Changes:
    """Tells waiting requests about changed rows. Lives from ``start`` to ``stop``."""

    def __init__(self, sessions: Sessions, bell: Path) -> None:
        self._sessions = sessions
        self._path = bell
        self._watchers: set[_Watcher] = set()
        self._lock = threading.Lock()
        self._ended = False

    def start(self) -> None:
        """Begins to look; to be called in the event loop that the requests run in."""
        self._loop = asyncio.get_running_loop()
        self._bell = Bell(self._path)
        self._thread = threading.Thread(target=self._look_on, name="changes", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self._watchers)

    def release(self) -> None:
        """Ends every wait now, and those to come: the service is about to stop."""
        self._ended = True
        for watcher in self._watching():
            watcher.changed.set()

    def stop(self) -> None:
        """Ends the thread."""
        self.release()
        ring(self._path)
        self._thread.join()
        self._bell.close()

    async def states(
        self, reader: Reader, id: str, seconds: float, beat: float | None = None
    ) -> AsyncIterator[str | None]:
        """The state of the row ``id``, now and after each change, for at most ``seconds``.

        With ``beat``, None comes whenever so many seconds pass without a change.
        """
        deadline = time.monotonic() + seconds
        with self._watch(reader, id) as watcher:
            while not self._ended and (left := deadline - time.monotonic()) > 0:
                try:
                    async with asyncio.timeout(min(left, beat or left)):
                        await watcher.changed.wait()
                except TimeoutError:
                    if beat:
                        yield None
                    continue
                watcher.changed.clear()
                if watcher.state is not None:
                    yield watcher.state

    async def reached(
        self, reader: Reader, id: str, final: Collection[str], seconds: float
    ) -> str | None:
        """The row's state once it is one of ``final``; None if that takes too long."""
        async for state in self.states(reader, id, seconds):
            if state in final:
                return state
        return None

    @contextmanager
    def _watch(self, reader: Reader, id: str) -> Iterator[_Watcher]:
        watcher = _Watcher(reader, id)
        with self._lock:
            self._watchers.add(watcher)
        ring(self._path)  # its present state is news, too
        try:
            yield watcher
        finally:
            with self._lock:
                self._watchers.discard(watcher)

    def _watching(self) -> list[_Watcher]:
        with self._lock:
            return list(self._watchers)

    def _look_on(self) -> None:
        while not self._ended:
            self._bell.wait(POLL_S if self._watchers else IDLE_S)
            try:
                self._look()
            except Exception as error:  # a busy database must not end all waiting
                log.error("looking for changes failed", exc_info=error)

    def _look(self) -> None:
        watchers = self._watching()
        readers = {watcher.reader for watcher in watchers}
        if not readers:
            return
        with snapshot(self._sessions) as session:
            found = {
                reader: reader(session, {w.id for w in watchers if w.reader is reader})
                for reader in readers
            }
        told = [(watcher, found[watcher.reader].get(watcher.id)) for watcher in watchers]
        self._loop.call_soon_threadsafe(_tell, told)


def _tell(told: list[tuple[_Watcher, str | None]]) -> None:
    for watcher, state in told:
        if state != watcher.state:
            watcher.state = state
            watcher.changed.set()


async def _changes(request: Request) -> Changes:
    return cast(Changes, request.app.state.changes)


WatchedChanges = Annotated[Changes, Depends(_changes)]
"""For handlers that wait: ``await changes.reached(submissions.statuses, id, FINAL, seconds)``."""
