"""The sizes of a case's axes: those that fixed values have, and those that may be drawn."""

from collections.abc import Iterator, Mapping

from app.domain.problem import CaseSet, CodeProblem, Draw, Parameter

Range = tuple[int, int]
"""The lowest and the highest size."""

DEFAULT_SIZES: Range = (2, 5)
"""Of an axis that a case set does not mention."""

ELLIPSIS = "..."


def named_axes(stated: Parameter) -> tuple[str | int, ...]:
    """The axes after the leading ones."""
    return tuple(axis for axis in stated.shape if axis != ELLIPSIS)


def axis_names(problem: CodeProblem) -> set[str]:
    """The names of all axes of the parameters."""
    return {
        axis
        for stated in problem.parameters.values()
        for axis in named_axes(stated)
        if isinstance(axis, str)
    }


def is_fixed(value: object) -> bool:
    """Whether an argument is given as numbers rather than drawn."""
    return not isinstance(value, str | Draw)


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
    for parameter, value in case.arguments.items():
        stated = problem.parameters.get(parameter)
        shape = shape_of_numbers(value) if is_fixed(value) else None
        if stated is None or shape is None:
            continue
        axes = named_axes(stated)
        for axis, size in zip(reversed(axes), reversed(shape), strict=False):
            yield parameter, axis, size


def size_ranges(problem: CodeProblem, case: CaseSet) -> dict[str, Range]:
    """For every axis, sorted by name, what may be drawn; a fixed value decides, then ``dims``."""
    fixed = {axis: (size, size) for _, axis, size in fixed_sizes(problem, case)}
    stated = {
        axis: (size, size) if isinstance(size, int) else size for axis, size in case.dims.items()
    }
    return {
        axis: fixed.get(axis) or stated.get(axis) or DEFAULT_SIZES
        for axis in sorted(axis_names(problem))
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
