"""Confines a fresh fork for one job, step by step. Runs inside the jail.

After ``confine`` the process can read the interpreter, numpy and torch, write its own small
tmpfs, and talk to one socket. The order matters: each step needs a right that a later one takes.
"""

import contextlib
import os
from dataclasses import dataclass

from . import landlock, limits, syscalls
from .control import Start

JOB = 3  # the job socket's descriptor in the child
WORK = "/tmp"  # noqa: S108 - a private tmpfs
_RULESET = 4
_INODES = 1024


@dataclass(frozen=True)
class Confinement:
    """What the zygote prepared once for all its children."""

    ruleset: int  # Landlock ruleset, lacking only the job's own directory
    job_filter: bytes
    address_space: int  # of the zygote itself
    proc: int  # descriptor of a detached /proc
    own_mounts: bool  # level full: a mount namespace of its own
    without: frozenset[str]


def confine(job: int, printed: int, start: Start, how: Confinement) -> None:
    """Give up every right that a job does not need."""
    _volunteer_for_the_oom_killer(how.proc)
    _keep_only_job_descriptors(job, printed, how.ruleset)
    syscalls.die_with_parent()
    os.setsid()
    if how.own_mounts:
        _mount_work_directory(start)
    _limit(start, how)
    if how.own_mounts:
        syscalls.drop_capabilities()
    syscalls.set_no_new_privileges()
    if "landlock" not in how.without:
        _restrict_files(how)
    os.close(_RULESET)
    os.environ.clear()
    if "seccomp" not in how.without:
        syscalls.install_filter(how.job_filter)


def _volunteer_for_the_oom_killer(proc: int) -> None:
    """Short of memory, the kernel should choose the job and not its zygote."""
    # Without a user namespace the files of a process that cannot be dumped are root's.
    with contextlib.suppress(PermissionError):
        score = os.open("self/oom_score_adj", os.O_WRONLY, dir_fd=proc)
        os.write(score, b"1000")
        os.close(score)


def _keep_only_job_descriptors(job: int, printed: int, ruleset: int) -> None:
    # In this order no target is a source still needed; the ruleset lies far above all of them.
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    os.dup2(job, JOB)
    os.dup2(ruleset, _RULESET)
    syscalls.close_from(_RULESET + 1)


def _mount_work_directory(start: Start) -> None:
    syscalls.unshare(syscalls.NEWNS)
    flags = syscalls.MS_NOSUID | syscalls.MS_NODEV | syscalls.MS_NOEXEC
    syscalls.mount("tmpfs", WORK, flags, f"size={start.disk_mb}m,nr_inodes={_INODES},mode=0700")


def _limit(start: Start, how: Confinement) -> None:
    limits.apply(
        address_space=how.address_space + (start.memory_mb << 20),
        file_bytes=start.disk_mb << 20,
    )


def _restrict_files(how: Confinement) -> None:
    if how.own_mounts:
        landlock.grant(_RULESET, WORK, landlock.WORK_IN)
    landlock.restrict(_RULESET)
