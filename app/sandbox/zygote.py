"""The warm processes inside the jail: one master that has imported torch, and a slot zygote per
slot that forks a child for each job.

    master ── slot zygote 1 ── child: one job, then gone
          └── slot zygote 2 ── …

A zygote never reads a byte of a job: it hands the job's socket to the child unread, so nothing of
one submission can be in memory when the next child is forked.
"""

import contextlib
import fcntl
import gc
import os
import select
import signal
import socket
import sys
import time
from dataclasses import dataclass, field, replace

from . import control, hugepages, landlock, limits, syscalls
from .config import Config
from .confine import JOB, Confinement, confine
from .control import HELLO, READY, Begin, Ended, Kill, Retire, Start

_DEADLINE_GRACE_S = 5
_HIGH = 200  # own descriptors move above this, out of the way of a child's few


def main(config_descriptor: int) -> None:
    """The master: import, prepare, give up rights, fork the slots, replace those that die."""
    syscalls.die_with_parent()
    with open(config_descriptor, "rb") as file:
        file.seek(0)
        config = Config.from_json(file.read())
    import_once()
    how = _prepare(config)
    _give_up_rights(config)
    slots = {_fork_slot(config, number, how): number for number in range(len(config.controls))}
    while True:
        pid, _ = os.waitpid(-1, 0)
        if pid in slots:
            number = slots.pop(pid)
            slots[_fork_slot(config, number, how)] = number


def import_once() -> None:
    """Import and touch what jobs use, so that no child pays for it."""
    from . import runner

    runner.warm_up()
    # The view's own directory has done its work; students' modules come after all of ours.
    sys.path[:] = [entry for entry in sys.path if not entry.endswith("/own")]


def _prepare(config: Config) -> Confinement:
    """All that reads /proc or paths, done once."""
    _check_single_thread()
    full = config.level == "full"
    proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
    gc.collect()
    gc.freeze()  # keeps the collector of a child from writing to, and so copying, shared pages
    hugepages.collapse()
    how = Confinement(
        ruleset=-1,  # each slot has its own
        job_filter=bytes.fromhex(config.job_filter),
        address_space=_address_space(),
        proc=_above(proc),
        own_mounts=full,
        without=frozenset(config.without),
    )
    if full:
        for place in ("/proc", "/own", "/tmp"):  # noqa: S108
            syscalls.detach(place)
    return how


def _check_single_thread() -> None:
    """A fork copies one thread only: a lock or OpenMP team of another would hang every child."""
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        sys.exit(f"the zygote has {threads} threads after its imports, expected 1")


def _address_space() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _job_ruleset(config: Config, number: int) -> int:
    """What a slot's jobs may read. Not our own files, and nothing may be executed."""
    ruleset = landlock.create_ruleset()
    for path in (*config.readable, *config.directories[number : number + 1]):
        if os.path.isdir(path):
            landlock.grant(ruleset, path, landlock.READ_TREE)
        elif os.path.exists(path):
            landlock.grant(ruleset, path, landlock.READ_FILE)
    landlock.grant(ruleset, "/dev/null", landlock.READ_WRITE_FILE)
    for device in ("zero", "random", "urandom"):
        landlock.grant(ruleset, f"/dev/{device}", landlock.READ_FILE)
    return _above(ruleset)


def _above(descriptor: int) -> int:
    """The same descriptor under a high number."""
    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    os.close(descriptor)
    return high


def _give_up_rights(config: Config) -> None:
    """Keep only what giving each job its own namespaces needs."""
    syscalls.set_dumpable(False)
    needed = {syscalls.CAP_SYS_ADMIN, syscalls.CAP_SETPCAP} if config.level == "full" else ()
    syscalls.keep_capabilities(frozenset(needed))
    syscalls.set_no_new_privileges()
    if "outer_seccomp" not in config.without:
        syscalls.install_filter(bytes.fromhex(config.zygote_filter))


# One slot


@dataclass
class Child:
    """A fork that lives. ``deadline`` is ours, in case the trusted side forgets it."""

    fork: int
    pid: int
    pidfd: int
    deadline: float = float("inf")  # until its job begins
    killed: bool = False

    def kill(self) -> None:
        # The end of a pid namespace's first process is the end of all that are in it.
        signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        self.killed = True
        self.deadline = float("inf")


@dataclass
class Slot:
    """A slot zygote's own descriptors, and its children."""

    line: socket.socket
    itself: int  # pidfd
    own_pids: bool  # a pid namespace for each child
    how: Confinement
    poller: select.poll = field(default_factory=select.poll)
    children: dict[int, Child] = field(default_factory=dict)  # by pidfd


def _fork_slot(config: Config, number: int, how: Confinement) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        syscalls.die_with_parent()
        _join_group(config.groups[number])
        line = _above(os.dup(config.controls[number]))
        how = replace(how, ruleset=_job_ruleset(config, number))
        _close_others({line, how.ruleset, how.proc})
        _silence()
        serve(line, config, how)
    finally:
        os._exit(1)


def _join_group(descriptors: list[int]) -> None:
    required, optional = descriptors[:2], descriptors[2:]
    for descriptor in required:
        os.write(descriptor, b"0")  # 0: whoever writes
    for descriptor in optional:
        # The processor group refuses a process with real-time scheduling.
        with contextlib.suppress(OSError):
            os.write(descriptor, b"0")


def _close_others(kept: set[int]) -> None:
    first = 3
    for descriptor in sorted(kept):
        os.closerange(first, descriptor)
        first = descriptor + 1
    syscalls.close_from(first)


def _silence() -> None:
    null = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)


def serve(line: int, config: Config, how: Confinement) -> None:
    """Fork, kill and reap children as the trusted side asks, until it closes the socket."""
    own_pids = config.level == "full" and "pid_namespace" not in config.without
    itself = _above(os.pidfd_open(os.getpid()))
    slot = Slot(socket.socket(fileno=line), itself, own_pids, how)
    slot.poller.register(line, select.POLLIN)
    slot.line.send(READY)
    while True:
        ready = slot.poller.poll(_until_next_deadline(slot))
        for descriptor, _ in ready:
            if descriptor == line:
                _obey(slot)
            else:
                _reap(slot, slot.children.pop(descriptor))
        for child in slot.children.values():
            if time.monotonic() > child.deadline:
                child.kill()


def _until_next_deadline(slot: Slot) -> float | None:
    """In milliseconds; None where no child has one."""
    first = min((child.deadline for child in slot.children.values()), default=float("inf"))
    return None if first == float("inf") else max(0.0, first - time.monotonic()) * 1000 + 1


def _obey(slot: Slot) -> None:
    """Do what one message of the trusted side says."""
    text, descriptors, _, _ = socket.recv_fds(slot.line, 64, 2)
    if not text:
        os._exit(0)  # the children go with us
    match control.unpack(text):
        case Start() as start if len(descriptors) == 2:
            _start_child(slot, start, descriptors)
        case Begin(fork, wall_ms):
            for child in _called(slot, fork):
                child.deadline = time.monotonic() + wall_ms / 1000 + _DEADLINE_GRACE_S
                limits.lower_cpu(child.pid, wall_ms / 1000)
        case Kill(fork):
            for child in _called(slot, fork):
                child.kill()
        case Retire():
            os._exit(0)  # the master forks a new slot zygote
    for descriptor in descriptors:
        os.close(descriptor)


def _called(slot: Slot, fork: int) -> list[Child]:
    """The child of that number; none where it has ended, for a message may come late."""
    return [child for child in slot.children.values() if child.fork == fork]


def _start_child(slot: Slot, start: Start, descriptors: list[int]) -> None:
    try:
        pid = _fork_child(slot, start, descriptors)
    except OSError:
        # The slot's group is out of threads or memory: a job is using it up, and this child
        # was to be the next one's. The trusted side will ask again when that job has ended.
        slot.line.send(control.pack(Ended(start.fork, 0, killed=True, cpu_ms=0)))
        return
    child = Child(start.fork, pid, _above(os.pidfd_open(pid)))
    slot.children[child.pidfd] = child
    slot.poller.register(child.pidfd, select.POLLIN)


def _fork_child(slot: Slot, start: Start, descriptors: list[int]) -> int:
    """Fork into a new pid namespace without forking twice: only the next child enters it."""
    if slot.own_pids:
        syscalls.unshare(syscalls.NEWPID)
    try:
        pid = os.fork()
        if pid == 0:
            _be_child(start, descriptors, slot.how)
    finally:
        if slot.own_pids:
            syscalls.setns(slot.itself, syscalls.NEWPID)
    return pid


def _be_child(start: Start, descriptors: list[int], how: Confinement) -> None:
    from . import runner

    job, printed = descriptors
    os.dup2(printed, 2)  # where a failure of ours would be read
    try:
        confine(job, printed, start, how)
        os.write(JOB, HELLO)
        runner.serve(JOB)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the child ends here
        os.write(2, f"{type(error).__name__}: {error}"[:500].encode("utf-8", "replace"))
    finally:
        os._exit(99)


def _reap(slot: Slot, child: Child) -> None:
    slot.poller.unregister(child.pidfd)
    os.close(child.pidfd)
    _, status, usage = os.wait4(child.pid, 0)
    cpu_ms = int((usage.ru_utime + usage.ru_stime) * 1000)
    slot.line.send(control.pack(Ended(child.fork, status, child.killed, cpu_ms)))
