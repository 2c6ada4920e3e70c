"""The system calls that Python 3.11 does not offer, by ctypes. Each raises OSError with its name.

Every argument is widened to a C long: a bare Python int would travel as a 32-bit C int. Numbers
are those of x86_64, the one architecture the filters are tested on. Also runs inside the jail.
"""

import ctypes
import os
import struct

ARCHITECTURE = "x86_64"

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

NEWNS = 0x0002_0000
NEWCGROUP = 0x0200_0000
NEWUTS = 0x0400_0000
NEWIPC = 0x0800_0000
NEWUSER = 0x1000_0000
NEWPID = 0x2000_0000
NEWNET = 0x4000_0000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REC, MS_PRIVATE = 16384, 1 << 18
MNT_DETACH = 2

ATTR_RDONLY, ATTR_NOSUID = 1, 2

CAP_SETPCAP, CAP_SYS_ADMIN = 8, 21

_AT_FDCWD = -100
_AT_EMPTY_PATH = 0x1000
_AT_RECURSIVE = 0x8000
_OPEN_TREE_CLONE = 1
_OPEN_TREE_CLOEXEC = 0o2000000
_MOVE_MOUNT_F_EMPTY_PATH = 4
_CAPABILITY_VERSION_3 = 0x2008_0522

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_PR_SET_SECUREBITS = 28
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4

# noroot, no setuid fixup, keep caps off, no ambient raise: each with its lock.
_SECUREBITS_LOCKED = 0x2F | 0xC0

_NUMBERS = {
    "capset": 126,
    "pivot_root": 155,
    "mount": 165,
    "umount2": 166,
    "sethostname": 170,
    "unshare": 272,
    "setns": 308,
    "seccomp": 317,
    "open_tree": 428,
    "move_mount": 429,
    "close_range": 436,
    "mount_setattr": 442,
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
}


def call(name: str, *arguments: object) -> int:
    """Make one system call; bytes and ctypes references pass as pointers, None as NULL."""
    widened = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result: int = _libc.syscall(ctypes.c_long(_NUMBERS[name]), *widened)
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def _prctl(option: int, a: int = 0, b: int = 0) -> None:
    arguments = [ctypes.c_ulong(value) for value in (a, b, 0, 0)]
    if _libc.prctl(ctypes.c_int(option), *arguments) == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl {option}: {os.strerror(number)}")


# Namespaces and mounts


def unshare(flags: int) -> None:
    call("unshare", flags)


def setns(descriptor: int, flags: int) -> None:
    call("setns", descriptor, flags)


def sethostname(name: bytes) -> None:
    call("sethostname", name, len(name))


def mount(kind: str, target: str, flags: int, options: str = "") -> None:
    """Mount a new file system of ``kind`` at ``target``."""
    call("mount", kind.encode(), os.fsencode(target), kind.encode(), flags, options.encode())


def make_mounts_private() -> None:
    """Stop mounts of this namespace from spreading to the one it was copied from."""
    call("mount", None, b"/", None, MS_REC | MS_PRIVATE, None)


def open_tree(path: str) -> int:
    """A detached copy of what is mounted at ``path``, as a descriptor."""
    flags = _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC | _AT_RECURSIVE
    return call("open_tree", _AT_FDCWD, os.fsencode(path), flags)


def move_mount(descriptor: int, target: str) -> None:
    """Attach a detached mount at ``target``."""
    target_bytes = os.fsencode(target)
    call("move_mount", descriptor, b"", _AT_FDCWD, target_bytes, _MOVE_MOUNT_F_EMPTY_PATH)


def set_mount_attributes(path: str, attributes: int) -> None:
    """Add attributes to every mount at and below ``path``."""
    wanted = struct.pack("QQQQ", attributes, 0, 0, 0)
    call("mount_setattr", _AT_FDCWD, os.fsencode(path), _AT_RECURSIVE, wanted, len(wanted))


def pivot_root(new_root: str, old_root: str) -> None:
    call("pivot_root", os.fsencode(new_root), os.fsencode(old_root))


def detach(path: str) -> None:
    """Unmount lazily: whoever still holds a descriptor keeps it, no path leads there any more."""
    call("umount2", os.fsencode(path), MNT_DETACH)


# Process attributes


def die_with_parent() -> None:
    """Have the kernel send SIGKILL when the thread that forked us ends."""
    _prctl(_PR_SET_PDEATHSIG, 9)


def set_dumpable(dumpable: bool) -> None:
    """Whether others of the same uid may trace this process and read its memory."""
    _prctl(_PR_SET_DUMPABLE, int(dumpable))


def set_no_new_privileges() -> None:
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def close_from(first: int) -> None:
    call("close_range", first, 0x7FFF_FFFF, 0)


def install_filter(program: bytes) -> None:
    """Install a compiled seccomp program; needs no_new_privs or CAP_SYS_ADMIN."""

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))

    buffer = ctypes.create_string_buffer(program, len(program))
    set_mode_filter = 1
    header = Program(len(program) // 8, ctypes.addressof(buffer))
    call("seccomp", set_mode_filter, 0, ctypes.byref(header))


# Capabilities


def keep_capabilities(kept: frozenset[int]) -> None:
    """Reduce all capability sets, the bounding set included, to ``kept``."""
    for capability in range(64):
        if capability in kept:
            continue
        try:
            _prctl(_PR_CAPBSET_DROP, capability)
        except OSError:
            break  # past the kernel's last capability
    _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    _set_capabilities(sum(1 << capability for capability in kept))


def drop_capabilities() -> None:
    """Give up every capability and the ways to get one back."""
    for capability in (CAP_SETPCAP, CAP_SYS_ADMIN):  # all that the zygote had left
        _prctl(_PR_CAPBSET_DROP, capability)
    _prctl(_PR_SET_SECUREBITS, _SECUREBITS_LOCKED)
    _set_capabilities(0)


def _set_capabilities(mask: int) -> None:
    header = struct.pack("Ii", _CAPABILITY_VERSION_3, 0)
    low, high = mask & 0xFFFF_FFFF, mask >> 32
    call("capset", header, struct.pack("6I", low, low, 0, high, high, 0))
