"""Turns what a student's function returned into plain arrays with their places. In the child.

Only types are looked at, never what an object says of itself: a subclass is stripped to its
buffer first, so that its overridden methods have no say.
"""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import torch

from .wire import MAX_KEY, MAX_RANK, MAX_VALUES, Array, ValueHeader, plain

MAX_DEPTH = 4  # of containers around arrays
_Source = Literal["array", "tensor", "list", "number"]
_Path = tuple[str | int, ...]
_Found = tuple[ValueHeader, Array]

_WIDER = {
    torch.bfloat16: torch.float32,
    torch.complex32: torch.complex64,
    **{
        getattr(torch, name): torch.float32
        for name in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
        if hasattr(torch, name)
    },
}
"""Tensor dtypes that numpy lacks."""


_PYTHON_NUMBERS = (np.bool_, np.int64, np.float64, np.complex128)


class NotTaken(Exception):
    """A value that cannot be compared; the text is the name of its type."""


class TooLarge(Exception):
    """More than an answer may hold: too many arrays, or too many bytes."""

    def __init__(self, limit: Literal["arrays", "bytes"]) -> None:
        super().__init__(limit)
        self.limit = limit


def flatten(returned: object, byte_limit: int) -> list[_Found]:
    """All arrays in a returned object, in order; raises NotTaken or TooLarge."""
    found: list[_Found] = []
    for member in _walk(returned, (), MAX_DEPTH, byte_limit):
        if isinstance(member, NotTaken):
            raise member
        if len(found) == MAX_VALUES:
            raise TooLarge("arrays")
        byte_limit -= member[1].nbytes
        if byte_limit < 0:
            raise TooLarge("bytes")
        found.append(member)
    return found


def flatten_arguments(arguments: list[object], byte_limit: int) -> list[_Found]:
    """The arrays and numbers in the arguments as they stand now; all else is passed over."""
    found: list[_Found] = []
    for position, argument in enumerate(arguments):
        for member in _walk(argument, (position,), MAX_DEPTH, byte_limit):
            if isinstance(member, NotTaken) or len(found) == MAX_VALUES:
                continue
            byte_limit -= member[1].nbytes
            if byte_limit < 0:
                raise TooLarge("bytes")
            found.append(member)
    return found


def _walk(value: object, path: _Path, depth: int, byte_limit: int) -> Iterator[_Found | NotTaken]:
    """Every leaf of a value: taken, or why not."""
    kind = type(value)
    listed = _as_array(value) if issubclass(kind, list) else None
    try:
        if listed is not None:
            yield ValueHeader(path, "list"), listed
        elif not issubclass(kind, (dict, list, tuple)):
            yield _leaf(value, path, byte_limit)
        elif depth == 0:
            yield NotTaken(_name(kind))
        else:
            for key, member in _members(value):
                yield from _walk(member, (*path, key), depth - 1, byte_limit)
    except NotTaken as refusal:
        yield refusal


def _members(container: Any) -> Iterator[tuple[str | int, object]]:
    if not isinstance(container, dict):
        # A 65th member is one too many already: no need to look at a million.
        yield from enumerate(container[: MAX_VALUES + 1])
        return
    for key, member in container.items():
        if type(key) is not str or len(key) > MAX_KEY:
            raise NotTaken(f"dict with a key of type {_name(type(key))}")
        yield key, member


def _leaf(value: Any, path: _Path, byte_limit: int) -> _Found:
    kind = type(value)
    if issubclass(kind, torch.Tensor):
        return ValueHeader(path, "tensor"), _from_tensor(value, byte_limit)
    if issubclass(kind, np.ndarray):
        return ValueHeader(path, "array"), _from_array(value, byte_limit)
    if issubclass(kind, np.generic):
        return ValueHeader(path, "number"), _from_array(_from_scalar(value), byte_limit)
    if issubclass(kind, (bool, int, float, complex)):
        return ValueHeader(path, "number"), _from_number(value)
    raise NotTaken(_name(kind))


def _from_array(value: Array, byte_limit: int) -> Array:
    base = np.ndarray.view(value, np.ndarray)
    if base.nbytes > byte_limit:  # before any copy: a broadcast view can claim any size
        raise TooLarge("bytes")
    if base.dtype.kind not in "biufc" or base.ndim > MAX_RANK:
        raise NotTaken(_name(type(value), base.dtype))
    if base.dtype.type in (np.longdouble, np.clongdouble):
        base = base.astype(np.float64 if base.dtype.kind == "f" else np.complex128)
    return plain(base)


def _from_scalar(value: np.generic) -> Array:
    return np.ndarray((), value.dtype, value.tobytes())


def _from_tensor(value: torch.Tensor, byte_limit: int) -> Array:
    kind = _name(type(value))
    with torch._C.DisableTorchFunctionSubclass():
        if value.layout != torch.strided:
            raise NotTaken(f"{kind} of layout {value.layout}")
        base = torch.Tensor.as_subclass(value, torch.Tensor).detach()
        if base.numel() * base.element_size() > byte_limit:
            raise TooLarge("bytes")
        if base.device.type != "cpu" or base.is_quantized:
            raise NotTaken(f"{kind} of {base.dtype} on {base.device}")
        base = base.to(_WIDER.get(base.dtype, base.dtype)).resolve_conj().resolve_neg()
        try:
            numbers = base.numpy()
        except (RuntimeError, TypeError):
            raise NotTaken(f"{kind} of {base.dtype}") from None
        return plain(numbers)


def _from_number(value: Any) -> Array:
    """A 0-d array. Integers beyond int64 become float64 where that can hold them."""
    kind = next(kind for kind in (bool, int, float, complex) if issubclass(type(value), kind))
    number: Any = kind(value)  # strips a subclass
    if kind is int and not -(1 << 63) <= number < 1 << 63:
        number = _as_float(number)
    return np.array(number)


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        raise NotTaken("int too large for float64") from None


def _as_array(members: Any) -> Array | None:
    """A rectangular (nested) list of numbers as one array; None for any other list."""
    shape = _list_shape(members, MAX_RANK)
    if shape is None:
        return None
    quick = np.array(members)
    if quick.dtype in _PYTHON_NUMBERS and quick.shape == shape:
        return quick
    numbers = list(_numbers(members))  # a large integer or numpy scalars among them
    return np.array(numbers).reshape(shape) if numbers else np.zeros(shape)


def _list_shape(members: Any, depth: int) -> tuple[int, ...] | None:
    if depth == 0:
        return None
    if not members:
        return (0,)
    first = members[0]
    if issubclass(type(first), (list, tuple)):
        shapes = {
            _list_shape(member, depth - 1) if issubclass(type(member), (list, tuple)) else None
            for member in members
        }
        inner = shapes.pop()
        return None if inner is None or shapes else (len(members), *inner)
    return (len(members),) if all(_is_number(member) for member in members) else None


def _is_number(value: Any) -> bool:
    kind = type(value)
    if issubclass(kind, np.generic):
        return value.dtype.kind in "biufc"
    return issubclass(kind, (bool, int, float, complex))


def _numbers(members: Any) -> Iterator[Array]:
    for member in members:
        if issubclass(type(member), (list, tuple)):
            yield from _numbers(member)
        elif issubclass(type(member), np.generic):
            yield _from_scalar(member)
        else:
            yield _from_number(member)


def _name(kind: type, dtype: object = "") -> str:
    name = str(type.__getattribute__(kind, "__name__"))[:100]
    return f"{name} of dtype {dtype}"[:200] if dtype else name
