"""Landlock: the kernel's unprivileged access rules. Also runs inside the jail.

A ruleset handles every right the kernel knows, so all that no rule grants is refused: reading
outside the granted trees, writing, TCP, signals to and abstract sockets of the world outside.
"""

import ctypes
import os
import struct

from .syscalls import call

WANTED_ABI = 6
"""The first ABI with scopes, i.e. which keeps a job's signals and abstract sockets at home."""

_RIGHTS = """
    execute write_file read_file read_dir remove_dir remove_file make_char make_dir make_reg
    make_sock make_fifo make_block make_sym refer truncate ioctl_dev
"""
_BIT = {name: 1 << position for position, name in enumerate(_RIGHTS.split())}
_RIGHTS_KNOWN_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15}  # and 16 from ABI 5 on
_NET_BIND_AND_CONNECT = 0b11  # ABI 4
_SCOPE_SOCKETS_AND_SIGNALS = 0b11  # ABI 6
_RULE_PATH_BENEATH = 1
_CREATE_RULESET_VERSION = 1


def rights(names: str) -> int:
    return sum(_BIT[name] for name in names.split())


READ_TREE = rights("read_file read_dir")
READ_FILE = rights("read_file")
READ_WRITE_FILE = rights("read_file write_file")
WORK_IN = rights(
    "read_file read_dir write_file truncate make_reg make_dir remove_file remove_dir refer"
)


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("parent", ctypes.c_int32))


def abi() -> int:
    """The kernel's Landlock ABI; 0 where there is none."""
    try:
        return call("landlock_create_ruleset", None, 0, _CREATE_RULESET_VERSION)
    except OSError:
        return 0


def create_ruleset() -> int:
    """A ruleset, as a descriptor, that handles all this kernel knows and grants nothing."""
    version = abi()
    handled = (1 << _RIGHTS_KNOWN_BY_ABI.get(version, 16)) - 1
    fields = [handled]
    if version >= 4:
        fields.append(_NET_BIND_AND_CONNECT)
    if version >= 6:
        fields.append(_SCOPE_SOCKETS_AND_SIGNALS)
    attributes = struct.pack(f"{len(fields)}Q", *fields)
    return call("landlock_create_ruleset", attributes, len(attributes), 0)


def grant(ruleset: int, path: str, access: int) -> None:
    """Grant ``access`` to a file, or to a directory and all below it."""
    known = (1 << _RIGHTS_KNOWN_BY_ABI.get(abi(), 16)) - 1
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = _PathBeneath(access & known, descriptor)
        call("landlock_add_rule", ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), 0)
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror} ({path})") from error
    finally:
        os.close(descriptor)


def restrict(ruleset: int) -> None:
    """Put this thread under the ruleset for good; needs no_new_privs."""
    call("landlock_restrict_self", ruleset, 0)
