"""Messages between the trusted side and a slot zygote, of fixed size. Also runs inside the jail.

They never carry a byte of a job: a zygote that read one could hand it on to the next fork.
"""

import struct
from typing import NamedTuple

READY = b"READY"
"""A slot zygote's first message: it waits for a job. Later it means that the old one died."""

HELLO = b"confined"
"""A child's first bytes on the job socket: from here on a failure is the student's."""


class Start(NamedTuple):
    """Fork a child and confine it. Three descriptors belong to it: the job socket, and one file
    for what it prints on both streams."""

    fork: int  # a random number, so that a late kill cannot meet the next child
    memory_mb: int
    disk_mb: int


class Begin(NamedTuple):
    """The child of that fork is about to get its job, and ``wall_ms`` to do it in."""

    fork: int
    wall_ms: int


class Kill(NamedTuple):
    """End the child of that fork now, if it still runs."""

    fork: int


class Retire(NamedTuple):
    """Make way for a fresh zygote, which tells when it is ready."""


class Ended(NamedTuple):
    """A child has ended and is reaped, or could not be forked. ``status`` is that of wait4."""

    fork: int
    status: int
    killed: bool  # by us: on a Kill or past the zygote's own deadline
    cpu_ms: int


Message = Start | Begin | Kill | Retire | Ended

_LAYOUTS = {
    Start: struct.Struct("<cQII"),
    Begin: struct.Struct("<cQI"),
    Kill: struct.Struct("<cQ"),
    Retire: struct.Struct("<c"),
    Ended: struct.Struct("<cQI?I"),
}
_TAGS = {Start: b"S", Begin: b"B", Kill: b"K", Retire: b"R", Ended: b"E"}
_KINDS = {tag: kind for kind, tag in _TAGS.items()}


def pack(message: Message) -> bytes:
    kind = type(message)
    return _LAYOUTS[kind].pack(_TAGS[kind], *message)


def unpack(text: bytes) -> Message | None:
    """None for anything that is no whole message."""
    kind = _KINDS.get(text[:1])
    if kind is None or len(text) != _LAYOUTS[kind].size:
        return None
    message: Message = kind(*_LAYOUTS[kind].unpack(text)[1:])
    return message
