"""The fuzzer's committed messages, and a short run of it."""

import random
import socket
import time

import pytest

from app.sandbox.channel import Channel
from tests.sandbox import fuzz


@pytest.mark.parametrize("file", sorted(fuzz.CORPUS.iterdir()), ids=lambda file: file.name)
def test_a_committed_message_is_read_or_refused_in_time(file):
    content = file.read_bytes()
    for closes in (True, False):
        ended = fuzz.check(content, closes=closes)
        assert ended in ("message", "unreadable", "end of file", "timed out")
    if file.name.startswith("good-"):
        assert ended == "message"
    if file.name.startswith("bad-"):
        assert ended == "unreadable"


def test_some_hundred_mutations_find_nothing():
    rng = random.Random(7)
    known = fuzz.seeds()
    ends = {
        fuzz.check(fuzz.mutated(rng.choice(known), known, rng), closes=True) for _ in range(600)
    }
    assert ends == {"message", "unreadable", "end of file"}


def test_a_message_that_stops_halfway_is_waited_for_until_the_deadline_only():
    (first, *_) = fuzz.seeds()
    assert fuzz.check(first[:7], closes=False) == "timed out"


def test_the_fuzzer_notices_a_reader_that_breaks_a_rule(monkeypatch):
    monkeypatch.setattr(fuzz, "MEMORY", 10)
    with pytest.raises(AssertionError, match="held"):
        fuzz.check(fuzz.seeds()[0], closes=True)


def test_past_its_deadline_a_channel_reads_nothing_even_if_it_is_there():
    ours, theirs = socket.socketpair()
    channel = Channel(ours)
    with theirs:
        theirs.sendall(fuzz.seeds()[-1])
        with pytest.raises(TimeoutError):
            channel.read(4, time.monotonic() - 1)
        assert channel.read(4, time.monotonic() + 10) == fuzz.seeds()[-1][:4]
    channel.close()
