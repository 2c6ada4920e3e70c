"""Messages between the trusted side and a slot zygote, of fixed size. Also runs inside the jail.

They never carry a byte of a job: a zygote that read one could hand it on to the next fork.
"""

import struct
from typing import NamedTuple, Self

READY = b"READY"
"""A slot zygote's first message: it waits for a job. Later it means that the old one died."""

HELLO = b"confined"
"""A child's first bytes on the job socket: from here on a failure is the student's."""


class Start(NamedTuple):
    """Fork a child. Three descriptors come along: the job socket and two for printed text."""

    fork: int  # a random number, so that a late kill cannot meet the next child
    wall_ms: int
    cpu_s: int
    memory_mb: int
    disk_mb: int

    def pack(self) -> bytes:
        return _START.pack(*self)

    @classmethod
    def unpack(cls, message: bytes) -> Self | None:
        """None for a message of another kind."""
        return cls(*_START.unpack(message)) if len(message) == _START.size else None


class Kill(NamedTuple):
    """End the child of that fork now, if it still runs."""

    fork: int

    def pack(self) -> bytes:
        return _KILL.pack(*self)

    @classmethod
    def unpack(cls, message: bytes) -> Self | None:
        return cls(*_KILL.unpack(message)) if len(message) == _KILL.size else None


class Ended(NamedTuple):
    """A child has ended and is reaped. ``status`` is that of wait4."""

    fork: int
    status: int
    killed: bool  # by us: on a Kill or past the zygote's own deadline
    cpu_ms: int

    def pack(self) -> bytes:
        return _ENDED.pack(*self)

    @classmethod
    def unpack(cls, message: bytes) -> Self | None:
        return cls(*_ENDED.unpack(message)) if len(message) == _ENDED.size else None


_START = struct.Struct("<QIIII")
_KILL = struct.Struct("<Q")
_ENDED = struct.Struct("<QI?I")
