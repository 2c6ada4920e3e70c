"""Resource limits of one job. Runs inside the jail, before the job's first byte is read."""

import contextlib
import resource

_STACK = (8 << 20, 64 << 20)
_OPEN_FILES = 64


def apply(*, address_space: int, file_bytes: int) -> None:
    """Set the limits that a job cannot raise again.

    ``address_space`` bounds memory in a way a student understands (MemoryError); the control
    group behind it catches what it cannot see.
    """
    both = {
        resource.RLIMIT_AS: address_space,
        resource.RLIMIT_FSIZE: file_bytes,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_NICE: 0,
        resource.RLIMIT_RTPRIO: 0,
        resource.RLIMIT_SIGPENDING: 64,
    }
    for kind, limit in both.items():
        resource.setrlimit(kind, (limit, limit))
    resource.setrlimit(resource.RLIMIT_STACK, _STACK)


def lower_cpu(pid: int, wall_s: float) -> None:
    """Bound another process's processor time to two threads' worth of its wall time.

    A backstop: the wall clock comes first. Only the hard limit kills, for the first process of a
    pid namespace ignores the soft limit's SIGXCPU.
    """
    seconds = int(2 * wall_s) + 2
    with contextlib.suppress(ProcessLookupError):
        _, hard = resource.prlimit(pid, resource.RLIMIT_CPU)
        if hard == resource.RLIM_INFINITY or hard > seconds:
            resource.prlimit(pid, resource.RLIMIT_CPU, (seconds, seconds))
