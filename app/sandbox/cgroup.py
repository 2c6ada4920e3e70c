"""Control groups, one per slot: the backstop for memory that the address-space limit cannot see
(shared mappings, tmpfs) and for threads. Needs write access to the service's own group; without
it jobs run under their resource limits alone.

A slot zygote moves itself in once, so its children are born inside: moving each child would cost
milliseconds.
"""

import contextlib
import os
import time
import uuid
from pathlib import Path
from typing import Literal, Self

_ROOT = Path("/sys/fs/cgroup")
_PIDS = 64
_HEADROOM = 1.25  # the address-space limit, which tells the student, must be met first
_OVERHEAD_MB = 64
_REMOVAL_TRIES = 40


def version() -> Literal["v1", "v2", "none"]:
    """Which kind this process can create groups in."""
    group = Group.create()
    if group is None:
        return "none"
    group.remove()
    return "v2" if group.unified else "v1"


class Group:
    """One slot's control group: one directory (v2), or one per controller (v1)."""

    def __init__(self, memory: Path, pids: Path) -> None:
        self.unified = memory == pids
        self._memory = memory
        self._directories = [memory] if self.unified else [memory, pids]

    @classmethod
    def create(cls) -> Self | None:
        """A new group below this process's own; None where that is not permitted."""
        name = f"attest-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        parents = list(dict.fromkeys(own_directories()))
        made: list[Path] = []
        try:
            for parent in parents:
                _remove_stale(parent)
                (parent / name).mkdir()
                made.append(parent / name)
            group = cls(made[0], made[-1])
            (made[-1] / "pids.max").write_text(str(_PIDS))
            _forbid_swap(made[0])
        except (OSError, IndexError):
            for directory in made:
                directory.rmdir()
            return None
        return group

    def limit_memory(self, megabytes: int) -> None:
        """Make room for one job of that memory limit."""
        limit = int(megabytes * _HEADROOM + _OVERHEAD_MB) << 20
        file = "memory.max" if self.unified else "memory.limit_in_bytes"
        # Refused while more than that is still charged; the address-space limit holds anyway.
        with contextlib.suppress(OSError):
            (self._memory / file).write_text(str(limit))

    def oom_kills(self) -> int:
        """How often the kernel has killed in this group for want of memory."""
        file = "memory.events" if self.unified else "memory.oom_control"
        try:
            lines = (self._memory / file).read_text().splitlines()
        except OSError:
            return 0  # removed, together with the jail
        counts = dict(line.split() for line in lines)
        return int(counts.get("oom_kill", 0))

    def open_procs(self) -> list[int]:
        """Descriptors through which a process without any right here can move itself in."""
        return [os.open(d / "cgroup.procs", os.O_WRONLY) for d in self._directories]

    def remove(self) -> None:
        """Remove the group, once the kernel has let go of its last process."""
        for directory in self._directories:
            for _ in range(_REMOVAL_TRIES):
                try:
                    directory.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.05)


def _forbid_swap(memory: Path) -> None:
    """Swapped pages would not count, and a job would crawl instead of meeting its limit."""
    for file in ("memory.swap.max", "memory.swappiness"):
        if (memory / file).exists():
            (memory / file).write_text("0")


def _remove_stale(parent: Path) -> None:
    """Remove the groups of services that were killed; the kernel refuses those in use."""
    for group in parent.glob("attest-*"):
        owner = group.name.split("-")[1]
        if not Path("/proc", owner).exists():
            with contextlib.suppress(OSError):
                group.rmdir()


def own_directories() -> list[Path]:
    """This process's memory and pids directories: two in v1, one and the same in v2, or none."""
    found: dict[str, Path] = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            mount = _ROOT / controller if controller else _ROOT
            found[controller] = mount / path.lstrip("/")
    if {"memory", "pids"} <= found.keys():
        return [found["memory"], found["pids"]]
    unified = found.get("")
    if unified is None or not (unified / "cgroup.controllers").exists():
        return []
    with contextlib.suppress(OSError):
        (unified / "cgroup.subtree_control").write_text("+memory +pids")
    return [unified]
