"""One of the jail's places to run a job: its zygote's line, its control group, its directory."""

import shutil
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from app.sandbox.cgroup import Group
from app.sandbox.fork import Bounds, Fork, bounds
from app.sandbox.job import Limits
from app.sandbox.layout import make_readable
from app.sandbox.line import Line, SlotLost

_REAP_S = 20.0
_RENEWED_AFTER = 1000
"""Jobs that one zygote serves. None has been seen to grow; this bounds what we have not seen."""


class Slot:
    """Hands out confined children, and keeps up to ``standby`` of them ready ahead of their job.

    A child on standby is forked and confined with the limits of the job before; a job with
    other limits gets a fresh one. It waits at its socket and has seen no byte of any job.
    """

    def __init__(
        self, line: Line, group: Group | None, directory: Path | None, standby: int
    ) -> None:
        self.directory = directory
        self._line = line
        self._group = group
        self._standby = standby
        self._ready: deque[Fork] = deque()
        self._served = 0

    def take(self, limits: Limits, file_bytes: int) -> Fork:
        """A confined child for a group of calls. The next ones are forked while it works."""
        born_with = bounds(limits, file_bytes)
        self._await_at_most(1)  # the child before this one is dying
        fork = self._waiting(born_with) or self._fresh(born_with)
        try:
            fork.begin(limits.wall_s)
            self._prepare(born_with)
        except SlotLost:
            fork.close()
            raise
        return fork

    def _waiting(self, born_with: Bounds) -> Fork | None:
        """One of the children on standby, if any lives and has these bounds."""
        while self._ready:
            fork = self._ready.popleft()
            if fork.bounds == born_with and not fork.has_ended():
                return fork
            _discard(fork)
        return None

    def _fresh(self, born_with: Bounds) -> Fork:
        """A child forked now. Those before it may hold all threads that the slot's group allows,
        so they have to be gone."""
        self._await_at_most(0)
        return self._start(born_with)

    def _start(self, born_with: Bounds) -> Fork:
        if self._group:
            self._group.limit_memory(born_with.memory_mb)
        return Fork(self._line, self._group, born_with)

    def _prepare(self, born_with: Bounds) -> None:
        while len(self._ready) < self._standby:
            self._ready.append(self._start(born_with))

    def settle(self) -> None:
        """Wait until all children but those on standby are gone: the end of a job."""
        self._await_at_most(0)
        self._served += 1
        if self._served == _RENEWED_AFTER:
            self._served = 0
            self._close_standby()
            self._line.renew(_REAP_S)

    def _await_at_most(self, dying: int) -> None:
        self._line.await_at_most(dying, {fork.number for fork in self._ready}, _REAP_S)

    def lose(self) -> None:
        """Forget the children on standby: the zygote that would reap them is dead."""
        self._close_standby()
        self._line.start_over()

    def _close_standby(self) -> None:
        while self._ready:
            self._ready.popleft().close()

    def close(self) -> None:
        """Let go of this side; the jail's end is the end of the other."""
        self.lose()
        self._line.close()

    @contextmanager
    def laid_out(self, files: Mapping[str, bytes]) -> Iterator[None]:
        """The files in a directory of the host, for a child with none of its own to write to."""
        if self.directory is None:
            yield
            return
        try:
            for name, content in files.items():
                path = self.directory / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            make_readable(self.directory)
            yield
        finally:
            # Not the directory itself: the slot's Landlock rule holds on to that very one.
            for child in self.directory.iterdir():
                shutil.rmtree(child) if child.is_dir() else child.unlink()


def _discard(fork: Fork) -> None:
    with fork:  # leaving kills
        pass
