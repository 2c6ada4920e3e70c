"""The decoder that reads what hostile code wrote."""

import io
import math
import struct
import tracemalloc

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from app.sandbox import wire
from app.sandbox.wire import ArrayHeader, Reply, Unreadable, ValueHeader

LIMIT = 1 << 16


def reader(content: bytes):
    stream = io.BytesIO(content)

    def read(size: int) -> bytes:
        got = stream.read(size)
        if len(got) < size:
            raise EOFError
        return got

    return read


def decode(content: bytes):
    return wire.receive(reader(content), Reply, LIMIT)


def frame(header: object, body: bytes = b"") -> bytes:
    text = msgspec.msgpack.encode(header)
    return struct.pack("<I", len(text)) + text + body


def with_array(dtype: object, shape: object, body: bytes = b"") -> bytes:
    header = {"number": 0, "values": [[[], "array"]], "arrays": [[dtype, shape]]}
    return frame(header, body)


@given(
    npst.arrays(st.sampled_from(sorted(wire.ITEM_SIZE)), npst.array_shapes(min_dims=0, min_side=0))
)
def test_every_array_that_travels_arrives_as_it_was(array):
    header = Reply(5, None, [ValueHeader((), "array")], [], [wire.describe(array)])
    content = b"".join(bytes(part) for part in wire.parts(header, [wire.plain(array)]))
    decoded, (arrived,) = decode(content)
    assert decoded == header
    assert (arrived.dtype, arrived.shape) == (array.dtype, array.shape)
    assert arrived.tobytes() == array.tobytes()


@given(st.binary(max_size=200))
def test_random_bytes_are_refused_or_run_out(content):
    with pytest.raises((Unreadable, EOFError)):
        decode(content)


@given(
    st.recursive(
        st.none() | st.integers(-(2**63), 2**64 - 1) | st.text() | st.binary() | st.floats(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    )
)
def test_any_well_formed_msgpack_of_another_shape_is_refused(header):
    with pytest.raises(Unreadable):
        decode(frame(header))


@given(
    st.sampled_from(sorted(wire.ITEM_SIZE)),
    st.lists(st.integers(-1, 2**41) | st.integers(0, 3), max_size=20),
)
def test_any_claimed_shape_is_refused_or_followed_by_its_bytes(dtype, shape):
    try:
        _, (array,) = decode(with_array(dtype, shape, bytes(LIMIT)))
    except Unreadable:
        return
    assert array.shape == tuple(shape)
    assert array.nbytes <= LIMIT


@pytest.mark.parametrize(
    "content",
    [
        struct.pack("<I", 2**32 - 1),
        frame([1, 2]),
        struct.pack("<I", 60_000) + b"\x91" * 60_000,
        frame({"number": 0, "other": 1}),
        frame({"number": 2**40}),
        frame({"number": 0, "values": [[["k" * 201], "array"]]}),
        frame({"number": 0, "values": [[[-1], "array"]]}),
        frame({"number": 0, "values": [[[0] * 9, "array"]]}),
        frame({"number": 0, "values": [[[], "pickle"]]}),
        frame({"number": 0, "values": [[[], "array"]] * 65}),
        frame({"number": 0, "failure": {"outcome": "passed"}}),
        frame({"number": 0, "failure": {"outcome": "raised", "detail": "x" * 2001}}),
        frame({"number": 0, "failure": {"outcome": "raised", "line": 0}}),
        with_array("|O", [1], b"x" * 8),
        with_array("<U4", [1], b"x" * 16),
        with_array("<M8[s]", [1], b"x" * 8),
        with_array("<f16", [1], b"x" * 16),
        with_array("V8", [1], b"x" * 8),
        with_array([["a", "<f8"]], [1], b"x" * 8),
        with_array("<f8", [1] * 17, b"x" * 8),
        with_array("<f8", [-1]),
        with_array("<f8", [2**31, 2**31, 2**31]),
        with_array("<f8", [0, 2**31, 2**31, 2**31]),
        with_array("<f8", [2**13 + 1]),
        frame({"number": 0, "arrays": [["|u1", [2**15]]] * 3}, bytes(3 << 15)),
        with_array("|b1", [4], b"\x02\xff\x01\x00"),
    ],
)
def test_hostile_messages_are_refused(content):
    with pytest.raises(Unreadable):
        decode(content)


def test_nothing_is_allocated_for_a_claim_beyond_the_limit():
    tracemalloc.start()
    for content in (struct.pack("<I", 2**32 - 1), with_array("<f8", [2**36])):
        with pytest.raises(Unreadable):
            decode(content)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20


def test_a_dtype_that_cannot_travel_is_a_type_error():
    with pytest.raises(TypeError, match="dtype object cannot travel"):
        wire.plain(np.array([None]))


numbers = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.complex_numbers()
trees = st.recursive(
    numbers,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
)


@given(trees)
def test_argument_trees_come_back_equal(tree):
    arrays: list[wire.Array] = []
    node = msgspec.msgpack.decode(msgspec.msgpack.encode(wire.encode_tree(tree, arrays)))
    assert repr(wire.decode_tree(node, arrays)) == repr(tree)


def test_sizes_match_numpy():
    for dtype, size in wire.ITEM_SIZE.items():
        assert np.dtype(dtype).itemsize == size
    assert math.prod(ArrayHeader("<f8", (3, 5)).shape) == 15
