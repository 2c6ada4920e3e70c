"""The warm processes inside the jail: one master that has imported torch, and a slot zygote per
slot that forks a child for each job.

    master ── slot zygote 1 ── child: one job, then gone
          └── slot zygote 2 ── …

A zygote never reads a byte of a job: it hands the job's socket to the child unread, so nothing of
one submission can be in memory when the next child is forked.
"""

import fcntl
import gc
import os
import select
import signal
import socket
import sys
import time
from dataclasses import dataclass, replace

from . import hugepages, landlock, syscalls
from .config import Config
from .confine import JOB, Confinement, confine
from .control import HELLO, READY, Ended, Kill, Start

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
        proc=fcntl.fcntl(proc, fcntl.F_DUPFD_CLOEXEC, _HIGH),
        own_mounts=full,
        without=frozenset(config.without),
    )
    os.close(proc)
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
    return fcntl.fcntl(ruleset, fcntl.F_DUPFD_CLOEXEC, _HIGH)


def _give_up_rights(config: Config) -> None:
    """Keep only what giving each job its own namespaces needs."""
    syscalls.set_dumpable(False)
    needed = {syscalls.CAP_SYS_ADMIN, syscalls.CAP_SETPCAP} if config.level == "full" else ()
    syscalls.keep_capabilities(frozenset(needed))
    syscalls.set_no_new_privileges()
    if "outer_seccomp" not in config.without:
        syscalls.install_filter(bytes.fromhex(config.zygote_filter))


# One slot


@dataclass(frozen=True)
class Slot:
    """A slot zygote's own descriptors."""

    control: socket.socket
    itself: int  # pidfd
    own_pids: bool  # a pid namespace for each child


def _fork_slot(config: Config, number: int, how: Confinement) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        syscalls.die_with_parent()
        _join_group(config.groups[number])
        control = fcntl.fcntl(config.controls[number], fcntl.F_DUPFD_CLOEXEC, _HIGH)
        how = replace(how, ruleset=_job_ruleset(config, number))
        _close_others({control, how.ruleset, how.proc})
        _silence()
        serve(control, config, how)
    finally:
        os._exit(1)


def _join_group(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.write(descriptor, b"0")  # 0: whoever writes


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


def serve(control: int, config: Config, how: Confinement) -> None:
    """Fork one child after another, as the trusted side asks, until it closes the socket."""
    own_pids = config.level == "full" and "pid_namespace" not in config.without
    itself = fcntl.fcntl(os.pidfd_open(os.getpid()), fcntl.F_DUPFD_CLOEXEC, _HIGH)
    slot = Slot(socket.socket(fileno=control), itself, own_pids)
    slot.control.send(READY)
    while True:
        message, descriptors, _, _ = socket.recv_fds(slot.control, 64, 2)
        if not message:
            os._exit(0)
        start = Start.unpack(message)
        if start is None or len(descriptors) != 2:
            continue  # a late kill: its child had already ended
        child = _fork_child(slot, start, descriptors, how)
        for descriptor in descriptors:
            os.close(descriptor)
        slot.control.send(_watch(slot, child, start).pack())


def _fork_child(slot: Slot, start: Start, descriptors: list[int], how: Confinement) -> int:
    """Fork into a new pid namespace without forking twice: only the next child enters it."""
    if slot.own_pids:
        syscalls.unshare(syscalls.NEWPID)
    pid = os.fork()
    if pid == 0:
        _be_child(start, descriptors, how)
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


def _watch(slot: Slot, child: int, start: Start) -> Ended:
    """Wait until the child ends, ending it when told to, when late, or when nobody listens."""
    deadline = time.monotonic() + start.wall_ms / 1000 + _DEADLINE_GRACE_S
    pidfd = os.pidfd_open(child)
    poller = select.poll()
    poller.register(pidfd, select.POLLIN)
    poller.register(slot.control, select.POLLIN)
    killed = False
    while True:
        left = None if killed else max(0.0, deadline - time.monotonic()) * 1000
        ready = {descriptor for descriptor, _ in poller.poll(left)}
        if pidfd in ready:
            break
        if ready and not _is_for(start, slot.control.recv(64)):
            continue
        # The end of a pid namespace's first process is the end of all that are in it.
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        poller.unregister(slot.control)
        killed = True
    os.close(pidfd)
    _, status, usage = os.wait4(child, 0)
    return Ended(start.fork, status, killed, int((usage.ru_utime + usage.ru_stime) * 1000))


def _is_for(start: Start, message: bytes) -> bool:
    """Whether a message ends this child: a kill of its number, or the end of the service."""
    kill = Kill.unpack(message)
    return not message or (kill is not None and kill.fork == start.fork)
