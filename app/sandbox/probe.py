"""Finds out how strongly this host can isolate: each step tried for real, in a throw-away fork.

Run as a process of its own, because namespaces need one with a single thread. Cheap to import.
"""

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Literal

from app.errors import SandboxUnavailable
from app.sandbox import cgroup, jail, landlock, syscalls

_OK = "ok"
_SECONDS = 20


class Level(StrEnum):
    """How strongly jobs are isolated. Below ``landlock`` nothing runs."""

    FULL = "full"  # namespaces, Landlock and system call filter
    LANDLOCK = "landlock"  # no namespaces; one layer where ``full`` has two


@dataclass(frozen=True)
class Probe:
    """What the host allows. ``steps`` holds "ok" or the error's name and text, per step."""

    level: Level | None
    steps: dict[str, str]
    landlock_abi: int
    cgroup: Literal["v1", "v2", "none"]
    advice: list[str]  # host settings that would lift the level


@cache
def probe() -> Probe:
    """Try each step of the isolation once per process; takes a few hundredths of a second."""
    package_root = str(Path(__file__).parents[2])
    start = "import sys; sys.path.insert(0, sys.argv[1]); from app.sandbox import probe; "
    command = [sys.executable, "-I", "-S", "-c", start + "probe.print_steps()", package_root]
    try:
        output = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=True).stdout  # noqa: S603 - our own interpreter
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxUnavailable(f"the isolation probe could not run: {error}") from error
    steps: dict[str, str] = json.loads(output)
    abi = landlock.abi()
    return Probe(_level(steps, abi), steps, abi, cgroup.version(), _advice(steps, abi))


def require(allowed: Level) -> Level:
    """The host's level; SandboxUnavailable where it is below ``allowed``."""
    found = probe()
    if found.level is Level.FULL or (found.level and allowed is Level.LANDLOCK):
        return found.level
    failing = "; ".join(f"{step}: {text}" for step, text in found.steps.items() if text != _OK)
    raise SandboxUnavailable(
        f"this host isolates at level {found.level or 'none'}, expected {allowed}"
        f" ({failing}). To lift it: {' or '.join(found.advice) or 'see the log of the kernel'}."
    )


def _level(steps: dict[str, str], abi: int) -> Level | None:
    if steps["seccomp"] != _OK or steps["landlock"] != _OK:
        return None
    namespaces = all(steps[name] == _OK for name in _NAMESPACE_STEPS)
    return Level.FULL if namespaces and abi >= landlock.WANTED_ABI else Level.LANDLOCK


def _advice(steps: dict[str, str], abi: int) -> list[str]:
    advice = []
    if abi < landlock.WANTED_ABI:
        advice.append(
            f"a kernel of 6.12 or later with lsm=landlock (Landlock ABI {abi},"
            f" expected {landlock.WANTED_ABI})"
        )
    failing = [steps[name] for name in _NAMESPACE_STEPS if steps[name] != _OK]
    if not failing:
        return advice
    if any(text.startswith("ENOSPC") for text in failing):
        advice.append("sysctl user.max_user_namespaces above 0")
    if _sysctl("kernel/apparmor_restrict_unprivileged_userns") == "1":
        advice.append("sysctl kernel.apparmor_restrict_unprivileged_userns=0")
    if _sysctl("kernel/unprivileged_userns_clone") == "0":
        advice.append("sysctl kernel.unprivileged_userns_clone=1")
    if not advice:
        advice.append(
            "in a container: a seccomp profile that allows unshare, clone, mount, umount2,"
            " pivot_root, move_mount, open_tree, mount_setattr and setns, and apparmor=unconfined"
        )
    return advice


def _sysctl(name: str) -> str:
    try:
        return Path("/proc/sys", name).read_text().strip()
    except OSError:
        return ""


# The steps, in the probing process


def print_steps() -> None:
    """Try every step and print the outcomes as JSON; the entry point of the process."""
    print(json.dumps({name: _try(step) for name, step in _STEPS.items()}))


def _try(step: Callable[[], None]) -> str:
    """Run a step in a fork; "ok", or the name and text of its error."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writer, _outcome(step).encode()[:500])
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(pid, 0)
    return text or "the process was killed"


def _outcome(step: Callable[[], None]) -> str:
    try:
        step()
    except OSError as error:
        return f"{errno.errorcode.get(error.errno or 0, error.errno)}: {error.strerror}"
    return _OK


def _user_namespace() -> None:
    jail.become_nobody()
    jail.enter_namespaces(0)


def _mounts() -> None:
    """Ubuntu lets unshare succeed and refuses the first mount, so this must mount."""
    jail.become_nobody()
    jail.enter_namespaces(syscalls.NEWNS)
    syscalls.make_mounts_private()
    tree = syscalls.open_tree("/usr")
    stage = next(filter(os.path.isdir, ("/mnt", "/tmp", "/var")))  # noqa: S108
    syscalls.mount("tmpfs", stage, syscalls.MS_NOSUID, "size=64k")
    os.mkdir(f"{stage}/usr")
    os.mkdir(f"{stage}/old")
    syscalls.move_mount(tree, f"{stage}/usr")
    syscalls.set_mount_attributes(stage, syscalls.ATTR_RDONLY)
    syscalls.pivot_root(stage, f"{stage}/old")


def _other_namespaces() -> None:
    jail.become_nobody()
    new = syscalls.NEWNET | syscalls.NEWIPC | syscalls.NEWUTS | syscalls.NEWCGROUP
    jail.enter_namespaces(new)


def _pid_namespaces() -> None:
    """A zygote's way: enter a pid namespace for the next child only, then return."""
    jail.become_nobody()
    jail.enter_namespaces(syscalls.NEWPID)
    _in_fork(_fork_into_pid_namespace)


def _fork_into_pid_namespace() -> None:
    itself = os.pidfd_open(os.getpid())
    syscalls.unshare(syscalls.NEWPID)
    _in_fork(lambda: None)
    syscalls.setns(itself, syscalls.NEWPID)


def _in_fork(step: Callable[[], None]) -> None:
    pid = os.fork()
    if pid == 0:
        try:
            step()
        except OSError as error:
            os._exit(error.errno or 1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code:
        raise OSError(code, f"pid namespace: {os.strerror(code)}")


def _landlock() -> None:
    syscalls.set_no_new_privileges()
    landlock.restrict(landlock.create_ruleset())


def _seccomp() -> None:
    allow_everything = bytes.fromhex("06000000 0000ff7f")
    syscalls.set_no_new_privileges()
    syscalls.install_filter(allow_everything)


_STEPS: dict[str, Callable[[], None]] = {
    "user namespace": _user_namespace,
    "mounts": _mounts,
    "network, ipc, uts and cgroup namespaces": _other_namespaces,
    "pid namespaces": _pid_namespaces,
    "landlock": _landlock,
    "seccomp": _seccomp,
}
_NAMESPACE_STEPS = list(_STEPS)[:4]
