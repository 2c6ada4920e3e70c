"""Fuzzes the reading of what a child sends: ``python -m tests.sandbox.fuzz SECONDS``.

Mutates messages at random and has the real channel read them from a real socket. Whatever comes,
reading ends by the deadline in a message or in one of three errors, and holds no more memory than
the limit allows. A message that breaks this is written to the corpus, which the tests replay.
"""

import hashlib
import os
import random
import socket
import struct
import sys
import time
import tracemalloc
from pathlib import Path

import msgspec

from app.sandbox import wire
from app.sandbox.channel import Channel
from app.sandbox.wire import Reply, Unreadable

CORPUS = Path(__file__).parent / "corpus"
LIMIT = 1 << 16
DEADLINE_S = 0.05
SLACK_S = 1.0  # a busy machine; a reader that waits for ever is what is looked for
MEMORY = 4 * LIMIT + 2 * wire.HEADER_LIMIT + (1 << 20)
LONGEST = 1 << 17  # fits into the socket's buffer, so that writing never blocks

EDGES = [
    0,
    1,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0xFFFF,
    0x7FFF_FFFF,
    0xFFFF_FFFF,
    1 << 20,
    LIMIT,
    LIMIT + 1,
]
WORDS = [
    b"|b1",
    b"|O8",
    b"<f8",
    b"<U4",
    b"arrays",
    b"values",
    b"failure",
    b"passed",
    b"\xc1",
    b"\xdd",
]


def check(content: bytes, *, closes: bool) -> str:
    """How reading ``content`` ended; AssertionError or another exception where it broke a rule."""
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * LONGEST)
    channel = Channel(ours)
    with theirs:
        theirs.sendall(content)
        if closes:
            theirs.shutdown(socket.SHUT_WR)
        tracemalloc.start()
        began = time.monotonic()
        try:
            ended = _read(channel, began + DEADLINE_S)
        finally:
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            channel.close()
    assert time.monotonic() - began < DEADLINE_S + SLACK_S, "waited past the deadline"
    assert peak < MEMORY, f"held {peak} bytes"
    return ended


def _read(channel: Channel, deadline: float) -> str:
    try:
        reply, arrays = channel.receive(Reply, LIMIT, deadline)
    except Unreadable:
        return "unreadable"
    except EOFError:
        return "end of file"
    except TimeoutError:
        return "timed out"
    assert sum(array.nbytes for array in arrays) <= LIMIT
    assert all(array.dtype.str in wire.ITEM_SIZE for array in arrays)
    assert len(arrays) == len(reply.arrays)
    return "message"


def seeds() -> list[bytes]:
    """The committed messages, to mutate."""
    return [file.read_bytes() for file in sorted(CORPUS.iterdir())]


def framed(header: object, body: bytes = b"") -> bytes:
    text = msgspec.msgpack.encode(header)
    return struct.pack("<I", len(text)) + text + body


def mutated(content: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Some random changes; usually with a length that fits again, or nothing else is reached."""
    data = bytearray(content)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(7):
            case 0 if data:
                data[at % len(data)] ^= 1 << rng.randrange(8)
            case 1 if data:
                data[at % len(data)] = rng.randrange(256)
            case 2:
                data[at:at] = rng.choice(WORDS)
            case 3:
                del data[at : at + rng.randint(1, 8)]
            case 4:
                data[at : at + 4] = struct.pack("<I", rng.choice(EDGES))
            case 5:
                data[at:at] = struct.pack(">BQ", rng.choice([0xCF, 0xD3]), rng.choice(EDGES) << 20)
            case 6:
                other = rng.choice(others)
                data[at:] = other[rng.randrange(len(other) + 1) :]
    if rng.random() < 0.7 and len(data) > 4:
        header = rng.randrange(len(data) - 3)
        data[:4] = struct.pack(
            "<I", header if rng.random() < 0.5 else min(len(content), len(data)) - 4
        )
    return bytes(data[:LONGEST])


def main(seconds: float) -> int:
    rng = random.Random(int.from_bytes(os.urandom(8)))
    known = seeds()
    counts: dict[str, int] = {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        content = mutated(rng.choice(known), known, rng)
        try:
            ended = check(content, closes=rng.random() < 0.99)
        except Exception as error:  # noqa: BLE001 - any other exception is what we look for
            file = CORPUS / f"found-{hashlib.sha256(content).hexdigest()[:16]}"
            file.write_bytes(content)
            print(f"{type(error).__name__}: {error}; written to {file.name}")
            return 1
        counts[ended] = counts.get(ended, 0) + 1
    print(f"{sum(counts.values())} messages:", ", ".join(f"{n} {k}" for k, n in counts.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
