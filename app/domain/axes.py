"""The sizes of a case's axes: those that fixed values have, and those that may be drawn."""

import re
from collections.abc import Iterator, Mapping

from app.domain.expressions import parse
from app.domain.problem import (
    CaseSet,
    CodeProblem,
    Draw,
    Entry,
    Parameter,
    called_by,
    entries_of,
    leaves,
)

Range = tuple[int, int]
"""The lowest and the highest size."""

DEFAULT_SIZES: Range = (2, 5)
"""Of an axis that a case set does not mention."""

ELLIPSIS = "..."

NAME = re.compile(r"[^\W\d]\w*")


def named_axes(stated: Parameter) -> tuple[str | int, ...]:
    """The axes after the leading ones."""
    return tuple(axis for axis in stated.shape if axis != ELLIPSIS)


def names_in(axis: str | int | float | None) -> list[str]:
    """The axis names in a name or in a formula such as "H*d"."""
    return NAME.findall(axis) if isinstance(axis, str) else []


def size_of(axis: str | int, sizes: Mapping[str, int]) -> int:
    """The size of an axis: a number, a name, or a formula in names.

    Raises ExpressionError for what is no formula in the names of ``sizes``.
    """
    if isinstance(axis, int):
        return axis
    return sizes[axis] if axis in sizes else int(parse(axis, list(sizes)).evaluate(sizes))


def axis_names(entry: Entry) -> set[str]:
    """The names of all axes of the parameters."""
    return {name for stated in entry.parameters.values() for name in _names(stated)}


def _names(stated: Parameter) -> Iterator[str]:
    yield from names_in(stated.repeat)
    for leaf in leaves({"": stated}):
        for axis in (*named_axes(leaf), leaf.value, leaf.below):
            yield from names_in(axis)
    for member in stated.members.values():
        yield from _names(member)


def is_fixed(value: object) -> bool:
    """Whether an argument is given as numbers rather than drawn or put together."""
    return not isinstance(value, str | Draw | Mapping)


def shape_of_numbers(value: object) -> tuple[int, ...] | None:
    """The shape of numbers in nested lists; None if ragged, empty, or not numbers."""
    if isinstance(value, bool | int | float):
        return ()
    if not isinstance(value, list | tuple) or not value:
        return None
    shapes = [shape_of_numbers(member) for member in value]
    first = shapes[0]
    if first is None or any(shape != first for shape in shapes):
        return None
    return (len(value), *first)


def fixed_sizes(problem: CodeProblem, case: CaseSet) -> Iterator[tuple[str, str | int, int]]:
    """Each axis that a fixed value has, as (parameter, axis, size)."""
    parameters = entries_of(problem)[called_by(problem, case)].parameters
    for parameter, value in case.arguments.items():
        stated = parameters.get(parameter)
        if stated is not None:
            for axis, size in _fixed_sizes(stated, value):
                yield parameter, axis, size


def _fixed_sizes(stated: Parameter, value: object) -> Iterator[tuple[str | int, int]]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            if name in stated.members:
                yield from _fixed_sizes(stated.members[name], member)
        return
    if isinstance(stated.value, str) and stated.value.isidentifier() and isinstance(value, int):
        yield stated.value, value
    shape = shape_of_numbers(value) if is_fixed(value) else None
    for axis, size in zip(reversed(named_axes(stated)), reversed(shape or ()), strict=False):
        if isinstance(axis, int) or axis.isidentifier():
            yield axis, size


def size_ranges(problem: CodeProblem, case: CaseSet) -> dict[str, Range]:
    """For every axis, sorted by name, what may be drawn; a fixed value decides, then ``dims``."""
    fixed = {axis: (size, size) for _, axis, size in fixed_sizes(problem, case)}
    stated = {
        axis: (size, size) if isinstance(size, int) else size for axis, size in case.dims.items()
    }
    entry = entries_of(problem)[called_by(problem, case)]
    return {
        axis: fixed.get(axis) or stated.get(axis) or DEFAULT_SIZES
        for axis in sorted(axis_names(entry))
    }


def can_differ(ranges: Mapping[str, Range]) -> bool:
    """Whether each axis can get a size that no other has.

    The axis whose range ends first takes the smallest free size: if that fails, nothing works.
    """
    taken: set[int] = set()
    for low, high in sorted(ranges.values(), key=lambda bounds: bounds[1]):
        free = next((size for size in range(low, high + 1) if size not in taken), None)
        if free is None:
            return False
        taken.add(free)
    return True
