"""Control groups, one per slot: the backstop for memory that the address-space limit cannot see
(shared mappings, tmpfs), for threads, and for the processors. Needs write access to the service's
own group; without it jobs run under their resource limits alone.

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
_OWN = Path("/proc/self/cgroup")
_PIDS = 64
_PERIOD_US = 100_000
_QUOTA_US = 2 * _PERIOD_US  # two processors, however many threads
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
    """One slot's control group: one directory (v2), or one per controller (v1): memory, pids and,
    where there is one, cpu."""

    def __init__(self, directories: list[Path]) -> None:
        self.unified = len(directories) == 1
        self._memory = directories[0]
        self._directories = directories

    @classmethod
    def create(cls) -> Self | None:
        """A new group below this process's own; None where that is not permitted."""
        name = f"attest-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        parents = own_directories()
        made: list[Path] = []
        try:
            for parent in parents:
                _remove_stale(parent)
                (parent / name).mkdir()
                made.append(parent / name)
            (made[:2][-1] / "pids.max").write_text(str(_PIDS))
            _forbid_swap(made[0])
            _limit_processors(made[-1])
        except (OSError, IndexError):
            for directory in made:
                directory.rmdir()
            return None
        return cls(made)

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


def _limit_processors(cpu: Path) -> None:
    """A job of many threads must not slow its neighbours; not every kernel can tell."""
    with contextlib.suppress(OSError):
        if (cpu / "cpu.max").exists():
            (cpu / "cpu.max").write_text(f"{_QUOTA_US} {_PERIOD_US}")
        elif (cpu / "cpu.cfs_quota_us").exists():
            (cpu / "cpu.cfs_quota_us").write_text(str(_QUOTA_US))


def _remove_stale(parent: Path) -> None:
    """Remove the groups of services that were killed; the kernel refuses those in use."""
    for group in parent.glob("attest-*"):
        owner = group.name.split("-")[1]
        if not Path("/proc", owner).exists():
            with contextlib.suppress(OSError):
                group.rmdir()


def own_directories() -> list[Path]:
    """This process's own directories: one in v2; memory, pids and perhaps cpu in v1; or none."""
    found: dict[str, Path] = {}
    for line in _OWN.read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            mount = _ROOT / controller if controller else _ROOT
            found[controller] = mount / path.lstrip("/")
    if {"memory", "pids"} <= found.keys():
        cpu = [found["cpu"]] if "cpu" in found and found["cpu"].is_dir() else []
        return [found["memory"], found["pids"], *cpu]
    unified = found.get("")
    if unified is None or not (unified / "cgroup.controllers").exists():
        return []
    for controller in ("memory", "pids", "cpu"):
        # One at a time: a single one that is not delegated would fail all three.
        with contextlib.suppress(OSError):
            (unified / "cgroup.subtree_control").write_text(f"+{controller}")
    return [unified]
