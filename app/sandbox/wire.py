"""The messages on a job socket, both sides: a length, a typed msgpack header, raw array bytes.

The trusted side reads with ``receive`` what hostile code wrote. It believes nothing: sizes are
bounded before anything is allocated, headers are decoded into types that know every field, and
array bytes become arrays without passing through a parser. Nothing is ever unpickled, imported
or evaluated. Also runs inside the jail.
"""

import math
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

HEADER_LIMIT = 1 << 20
MAX_VALUES = 64
MAX_RANK = 16
MAX_TEXT = 2000
MAX_KEY = 200
MAX_REMARKS = 20

Array = NDArray[np.generic]
Read = Callable[[int], bytes | bytearray]
"""Reads exactly that many bytes, or raises EOFError or TimeoutError."""
Find = Callable[[str, str | None], object]
"""The function of a name, in one file or the first that defines it; None if there is none."""

ITEM_SIZE = {
    name: np.dtype(name).itemsize
    for name in "|b1 |i1 |u1 <i2 <u2 <i4 <u4 <i8 <u8 <f2 <f4 <f8 <c8 <c16".split()  # noqa: SIM905
}
"""The dtypes that travel, with the bytes of one entry."""


class Unreadable(Exception):
    """A message that does not follow the format."""


@dataclass(frozen=True, slots=True)
class Function:
    """An argument that is a function or a class which the job's files define: ``name`` in
    ``file``, or in the first file that defines it."""

    name: str
    file: str | None = None


class NotDefined(Exception):
    """No file of the job defines this name."""


_Text = Annotated[str, Meta(max_length=MAX_TEXT)]
_Key = Annotated[str, Meta(max_length=MAX_KEY)]
_Index = Annotated[int, Meta(ge=0, lt=MAX_VALUES)]
_Number = Annotated[int, Meta(ge=-(1 << 31), lt=1 << 31)]
_Position = Annotated[int, Meta(ge=1, lt=1 << 31)]


class ArrayHeader(Struct, array_like=True, forbid_unknown_fields=True, frozen=True):
    """An array whose bytes follow the header, in C order."""

    dtype: Literal[tuple(ITEM_SIZE)]  # type: ignore[valid-type]
    shape: Annotated[tuple[Annotated[int, Meta(ge=0, le=1 << 40)], ...], Meta(max_length=MAX_RANK)]


class ValueHeader(Struct, array_like=True, forbid_unknown_fields=True, frozen=True):
    """Where in the returned object the array at the same position was found, and what it was."""

    path: Annotated[tuple[_Key | _Index, ...], Meta(max_length=8)]
    source: Literal["array", "tensor", "list", "number"]


class FailureHeader(Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """What the child says went wrong."""

    outcome: Literal[
        "raised",
        "out_of_memory",
        "wrong_type",
        "output_too_large",
        "crashed",
        "not_defined",
        "load_error",
    ]
    detail: _Text = ""
    error_type: _Key = ""
    file: Annotated[str, Meta(max_length=1000)] = ""
    cell: _Position | None = None
    line: _Position | None = None
    limit: Literal["", "arrays", "bytes"] = ""
    exit_code: _Number | None = None
    in_given: bool = False


class RemarkHeader(Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """What the child says about a file that it loaded, and where; see ``domain.run.Remark``."""

    kind: Literal[
        "left_out", "cell_left_out", "statement_failed", "cell_failed", "only_tagged", "more"
    ]
    file: Annotated[str, Meta(max_length=1000)]
    cell: _Position | None = None
    line: _Position | None = None
    text: _Key = ""


class Load(Struct, forbid_unknown_fields=True, frozen=True):
    """To the child: the submission's files; their bytes follow as arrays of bytes."""

    directory: str  # where the files lie, or are to be written
    files: list[str]
    seed: int
    stdout_limit: int
    output_limit: int
    given: str = ""  # the one of them that is not the student's
    arrays: list[ArrayHeader] = []


class CallHeader(Struct, forbid_unknown_fields=True, frozen=True):
    """To the child: one call. ``arguments`` are trees of ``encode_tree``; ``names``, where there
    are any, what each may be called by."""

    number: int
    entry: str
    file: str | None
    arguments: Any
    echo: bool
    names: list[str] = []
    arrays: list[ArrayHeader] = []


class Reply(Struct, forbid_unknown_fields=True, frozen=True):
    """From the child: the end of one call, or of loading (number -1)."""

    number: _Number
    failure: FailureHeader | None = None
    values: Annotated[list[ValueHeader], Meta(max_length=MAX_VALUES)] = []
    after: Annotated[list[ValueHeader], Meta(max_length=MAX_VALUES)] = []
    arrays: Annotated[list[ArrayHeader], Meta(max_length=2 * MAX_VALUES)] = []
    remarks: Annotated[list[RemarkHeader], Meta(max_length=MAX_REMARKS)] = []


Header = Load | CallHeader | Reply
Kind = TypeVar("Kind", Load, CallHeader, Reply)

_JOINED = 1 << 16  # messages up to this size are copied together and sent at once

_LENGTH = struct.Struct("<I")
_encoder = msgspec.msgpack.Encoder()
_decoders: dict[type, msgspec.msgpack.Decoder[Any]] = {
    kind: msgspec.msgpack.Decoder(kind) for kind in (Load, CallHeader, Reply)
}


def describe(array: Array) -> ArrayHeader:
    """The header of an array that travels as it stands (see ``plain``)."""
    return ArrayHeader(array.dtype.str, array.shape)


def plain(array: Array) -> Array:
    """The same numbers, C-contiguous and little-endian.

    Raises TypeError for a dtype that does not travel.
    """
    ordered = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    if ordered.dtype.str not in ITEM_SIZE:
        raise TypeError(f"dtype {array.dtype} cannot travel, expected one of {list(ITEM_SIZE)}")
    return ordered


def parts(header: Header, arrays: Sequence[Array]) -> Iterator[bytes | memoryview]:
    """The byte strings of a message, in order. Arrays must be ``plain``."""
    text = _encoder.encode(header)
    head = _LENGTH.pack(len(text)) + text
    bodies = [array.reshape(-1).view(np.uint8).data for array in arrays if array.size]
    if sum(map(len, bodies)) <= _JOINED:
        # In one piece the other side wakes up once, which is most of what a small call costs.
        yield b"".join([head, *bodies])
    else:
        yield head
        yield from bodies


def receive(
    read: Read, kind: type[Kind], byte_limit: int, header_limit: int = HEADER_LIMIT
) -> tuple[Kind, list[Array]]:
    """Read one message whose arrays hold at most ``byte_limit`` bytes together.

    Raises Unreadable for anything malformed, and what ``read`` raises.
    """
    (length,) = _LENGTH.unpack(read(_LENGTH.size))
    if length > header_limit:
        raise Unreadable(f"a header of {length} bytes, expected at most {header_limit}")
    try:
        header: Kind = _decoders[kind].decode(read(length))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise Unreadable(f"header: {error}") from None
    _check_sizes(header.arrays, byte_limit)
    return header, [_read_array(read, array) for array in header.arrays]


def _check_sizes(headers: Sequence[ArrayHeader], byte_limit: int) -> None:
    total = 0
    for header in headers:
        # Counted with 1 for a length of 0 as well: numpy refuses (0, 2**40, 2**40, 2**40).
        if ITEM_SIZE[header.dtype] * math.prod(max(n, 1) for n in header.shape) > byte_limit:
            raise Unreadable(f"an array of shape {header.shape}, expected {byte_limit} bytes")
        total += _size(header)
    if total > byte_limit:
        raise Unreadable(f"arrays of {total} bytes, expected at most {byte_limit}")


def _size(header: ArrayHeader) -> int:
    return ITEM_SIZE[header.dtype] * math.prod(header.shape)


def _read_array(read: Read, header: ArrayHeader) -> Array:
    if not _size(header):
        return np.empty(header.shape, header.dtype)
    raw = read(_size(header))
    if header.dtype == "|b1" and np.frombuffer(raw, np.uint8).max() > 1:
        # A bool of any other byte is neither equal nor unequal to True.
        raise Unreadable("a bool that is neither 0 nor 1")
    return np.frombuffer(raw, header.dtype).reshape(header.shape)


# Argument trees, trusted side to child


def encode_tree(value: object, arrays: list[Array]) -> object:
    """An argument as lists that msgpack can carry; arrays are put aside into ``arrays``.

    Raises TypeError for what has no place in an argument.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        arrays.append(plain(value))
        return ["array", len(arrays) - 1]
    if value is None or isinstance(value, (bool, float, str)):
        return ["plain", value]
    if isinstance(value, int):
        return ["int", str(value)]  # of any size
    if isinstance(value, complex):
        return ["complex", [value.real, value.imag]]
    if isinstance(value, Function):
        return ["function", [value.name, value.file]]
    if isinstance(value, dict):
        pairs = value.items()
        return ["dict", [[encode_tree(k, arrays), encode_tree(v, arrays)] for k, v in pairs]]
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "tuple"
        return [kind, [encode_tree(member, arrays) for member in value]]
    raise TypeError(f"an argument of type {type(value).__name__} cannot enter the sandbox")


def decode_tree(node: Any, arrays: Sequence[Array], find: Find | None = None) -> object:
    """The argument that ``encode_tree`` was given; ``find`` looks functions up.

    Raises NotDefined for a function that no file defines.
    """
    kind, content = node
    match kind:
        case "array":
            return arrays[content]
        case "int":
            return int(content)
        case "complex":
            return complex(*content)
        case "function":
            found = find(*content) if find else None
            if found is None:
                raise NotDefined(content[0])
            return found
        case "dict":
            return {decode_tree(k, arrays, find): decode_tree(v, arrays, find) for k, v in content}
        case "list":
            return [decode_tree(member, arrays, find) for member in content]
        case "tuple":
            return tuple(decode_tree(member, arrays, find) for member in content)
        case _:
            return content
