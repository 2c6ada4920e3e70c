"""The launcher: builds the jail once, then becomes its outside guard.

    service ── lifeline ── guard (this process) ── master zygote, first process of the jail

The guard ends when the service does, however that died, and the kernel then ends everything in
the jail. Run as a script of its own (``python -c``), before anything heavy is imported: it must
have one thread to enter namespaces.
"""

import os
import select
import socket
import sys
from collections.abc import Callable
from itertools import chain

from . import syscalls
from .config import Config

SERVICE_UID = 65532
"""Whom root becomes before it builds anything: a uid that owns no file."""

_STAGES = ("/mnt", "/tmp", "/var", "/usr")  # noqa: S108 - any directory that exists
_NEW_NAMESPACES = (
    syscalls.NEWUSER
    | syscalls.NEWNS
    | syscalls.NEWPID
    | syscalls.NEWNET
    | syscalls.NEWIPC
    | syscalls.NEWUTS
    | syscalls.NEWCGROUP
)


def main(config_descriptor: int, lifeline_descriptor: int) -> None:
    """Launch the jail described in the config's memory file; report a failing step by name."""
    lifeline = socket.socket(fileno=lifeline_descriptor)
    config = read_config(config_descriptor)
    try:
        launch = _launch_full if config.level == "full" else _launch_landlock
        first = launch(config, config_descriptor)
    except OSError as error:
        lifeline.send(str(error).encode())
        sys.exit(1)
    _close_inherited(config, config_descriptor)
    guard(first, lifeline)


def read_config(descriptor: int) -> Config:
    with open(descriptor, "rb", closefd=False) as file:
        file.seek(0)
        return Config.from_json(file.read())


def guard(first: int, lifeline: socket.socket) -> None:
    """Wait until the jail or the service ends, and end the other side with it."""
    pidfd = os.pidfd_open(first)
    poller = select.poll()
    poller.register(pidfd, select.POLLIN)
    poller.register(lifeline, select.POLLIN)
    poller.poll()
    os.kill(first, 9)
    os.waitpid(first, 0)


def _launch_full(config: Config, config_descriptor: int) -> int:
    trees = _open_trees_as_root(config)
    become_nobody()
    enter_namespaces()
    trees = trees or _open_trees(config)
    stage = next(filter(os.path.isdir, _STAGES))
    _build_root(stage, config, trees)
    return _fork(lambda: _enter_root(stage, config, config_descriptor))


def _launch_landlock(config: Config, config_descriptor: int) -> int:
    if _nobody_can_run(f"{config.root}/{config.python}"):
        become_nobody()
    # else root it stays, without capabilities: a Python below a home of mode 0700
    return _fork(lambda: _become_master(config, config_descriptor))


def _fork(child: Callable[[], None]) -> int:
    """Fork and have the child do something it does not return from."""
    pid = os.fork()
    if pid:
        return pid
    try:
        syscalls.die_with_parent()
        os.setsid()
        child()
    except OSError as error:
        print(error, file=sys.stderr, flush=True)
    os._exit(1)


# Identity


def become_nobody() -> None:
    """Give up root. Inside a user namespace with a single uid there is none to change to."""
    if os.geteuid() != 0:
        return
    try:
        os.setgroups([])
        os.setresgid(SERVICE_UID, SERVICE_UID, SERVICE_UID)
        os.setresuid(SERVICE_UID, SERVICE_UID, SERVICE_UID)
    except OSError:
        return
    # A change of uid hides /proc/self from its own process, and the uid map is written there.
    syscalls.set_dumpable(True)


def _nobody_can_run(program: str) -> bool:
    """Whether the program is within reach once root is given up, tried in a fork."""
    pid = os.fork()
    if pid == 0:
        become_nobody()
        os._exit(0 if os.access(program, os.X_OK, effective_ids=True) else 1)
    return os.waitpid(pid, 0)[1] == 0


def enter_namespaces(flags: int = _NEW_NAMESPACES) -> None:
    """Enter new namespaces, as uid 0 of a user namespace that maps to who we are outside."""
    uid, gid = os.geteuid(), os.getegid()
    syscalls.unshare(flags | syscalls.NEWUSER)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"0 {uid} 1")
    _write("/proc/self/gid_map", f"0 {gid} 1")


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


# The root of the jail


def _open_trees_as_root(config: Config) -> list[int]:
    """Copies of the mounts to show, taken while root can still pass a home of mode 0700."""
    if os.geteuid() != 0:
        return []
    try:
        return _open_trees(config)
    except PermissionError:
        return []  # root without CAP_SYS_ADMIN, as in a container: try again in our namespace


def _open_trees(config: Config) -> list[int]:
    trees = []
    for source, _ in config.binds:
        try:
            trees.append(syscalls.open_tree(source))
        except OSError as error:
            raise OSError(error.errno, f"{error.strerror} ({source})") from error
    return trees


def _build_root(stage: str, config: Config, trees: list[int]) -> None:
    """Assemble the jail's root directory at ``stage``, read-only when done."""
    syscalls.sethostname(b"box")
    syscalls.make_mounts_private()
    # Source trees were opened before this hides what lay at the stage.
    options = "size=1m,mode=0755"
    syscalls.mount("tmpfs", stage, syscalls.MS_NOSUID | syscalls.MS_NODEV, options)
    for directory in ("proc", "tmp", "old", "own"):
        os.makedirs(f"{stage}/{directory}")
    syscalls.mount("tmpfs", f"{stage}/own", syscalls.MS_NOSUID | syscalls.MS_NODEV, options)
    os.makedirs(f"{stage}/own/jailed")
    for text, place in config.links:
        os.symlink(text, f"{stage}/{place}")
    for tree, (_, place) in zip(trees, config.binds, strict=True):
        _make_mount_point(tree, f"{stage}/{place}")
        syscalls.move_mount(tree, f"{stage}/{place}")
        os.close(tree)
    for place in config.covers:
        if os.path.isdir(f"{stage}/{place}"):
            _cover(f"{stage}/{place}")
    # Not nodev: the four device nodes must work.
    syscalls.set_mount_attributes(stage, syscalls.ATTR_RDONLY | syscalls.ATTR_NOSUID)


def _make_mount_point(tree: int, target: str) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.isdir(f"/proc/self/fd/{tree}"):
        os.makedirs(target, exist_ok=True)
    else:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY))


def _cover(target: str) -> None:
    syscalls.mount("tmpfs", target, syscalls.MS_NOSUID | syscalls.MS_NODEV, "size=4k,nr_inodes=2")


def _enter_root(stage: str, config: Config, config_descriptor: int) -> None:
    """As first process of the new pid namespace: make the stage the root, forget the old one."""
    _mount_proc(f"{stage}/proc")
    # Some imports insist on a temporary directory. Taken away like /proc before any job.
    flags = syscalls.MS_NOSUID | syscalls.MS_NODEV
    syscalls.mount("tmpfs", f"{stage}/tmp", flags, "size=1m")  # noqa: S108 - in the jail
    os.chdir(stage)
    syscalls.pivot_root(stage, f"{stage}/old")
    os.chdir("/")
    syscalls.detach("/old")
    _forbid_user_namespaces()
    _become_master(config, config_descriptor)


def _mount_proc(target: str) -> None:
    """Needed for the import of torch only; the master takes it away before any job.

    The kernel allows a fresh one only while a full one is visible, so before the old root goes.
    A container runtime masks parts of its /proc and thereby forbids it: show that one then.
    """
    flags = syscalls.MS_NOSUID | syscalls.MS_NODEV | syscalls.MS_NOEXEC
    try:
        syscalls.mount("proc", target, flags)
    except PermissionError:
        syscalls.move_mount(syscalls.open_tree("/proc"), target)


def _forbid_user_namespaces() -> None:
    try:
        _write("/proc/sys/user/max_user_namespaces", "0")
    except OSError:
        return  # a masked /proc; the filters refuse nested namespaces as well


# The interpreter inside


def _become_master(config: Config, config_descriptor: int) -> None:
    root = config.root.rstrip("/")
    os.set_inheritable(config_descriptor, True)
    start = f"from jailed import zygote; zygote.main({config_descriptor})"
    python = f"{root}/{config.python}"
    # -S: no site, so no .pth file runs. -P: modules are not looked for in the current directory.
    command = ["python", "-s", "-S", "-P", "-c", start]
    os.execve(python, command, _environment(root))  # noqa: S606 - no shell is meant


def _environment(root: str) -> dict[str, str]:
    # Threads do not survive a fork, and a second one appears at the import of numpy unless told.
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return {
        "PYTHONHOME": f"{root}/py",
        "PYTHONPATH": f"{root}/sp:{root}/own",
        "PYTHONUTF8": "1",
        "PYTHONHASHSEED": "0",  # so that a replay meets the same order of sets
        "PYTHONDONTWRITEBYTECODE": "1",
        "LD_LIBRARY_PATH": f"{root}/py/lib",
        "LANG": "C.UTF-8",
        "HOME": "/tmp",  # noqa: S108 - the job's own
        "PATH": "/nonexistent",
        "MALLOC_ARENA_MAX": "2",  # each further one would cost a thread 64 MB of address space
        **one_thread,
    }


def _close_inherited(config: Config, config_descriptor: int) -> None:
    """Let the jail be the only holder of the sockets, so that its end shows as end of file."""
    os.close(config_descriptor)
    for descriptor in chain(config.controls, *config.groups):
        os.close(descriptor)
