"""What the parameters and the cases of a code problem must say without contradicting themselves."""

import math
from collections.abc import Iterator
from dataclasses import fields
from typing import get_args

from app.catalogue.known import At, Found, unknown, unknown_names
from app.domain.axes import (
    ELLIPSIS,
    axis_names,
    can_differ,
    fixed_sizes,
    is_fixed,
    named_axes,
    shape_of_numbers,
    size_ranges,
)
from app.domain.problem import (
    CaseSet,
    CodeProblem,
    Draw,
    MaskGenerator,
    NumberGenerator,
    Parameter,
)

KEYS = sorted({field.name for field in fields(CaseSet)} - {"arguments"})
"""What may stand in a case beside the parameters."""

ENTRIES_LIMIT = 10_000_000
"""Numbers in all cases of a set together."""

LARGEST_INTEGER = 2**63 - 1


def parameter_findings(problem: CodeProblem) -> Iterator[Found]:
    """Every shape that cannot be drawn, among parameters and results."""
    for part, stated in (("parameters", problem.parameters), ("returns", problem.returns)):
        for name, parameter in stated.items():
            at = (part, name, "shape")
            if ELLIPSIS in parameter.shape[1:]:
                yield at, "leading axes (...) stand first"
            for axis in named_axes(parameter):
                if isinstance(axis, str) and not axis.isidentifier():
                    yield at, f"{axis!r} cannot name an axis; expected letters, digits and _"
                if isinstance(axis, int) and axis < 1:
                    yield at, f"the axis {axis} is too small; expected sizes from 1"


def case_findings(problem: CodeProblem, name: str, case: CaseSet) -> Iterator[Found]:
    """Every contradiction in one case set."""
    at = ("cases", name)
    found = [
        *unknown_names(at, case.arguments, [*problem.parameters, *KEYS], "parameter or key"),
        *_count(at, case),
        *_dims(problem, at, case),
        *_arguments(problem, at, case),
    ]
    yield from found
    if not found:
        yield from _sizes(problem, at, case)


def _count(at: At, case: CaseSet) -> Iterator[Found]:
    if not 1 <= case.count <= 1000:
        yield (*at, "count"), f"count is {case.count}; expected 1 to 1000"
    if not math.isfinite(case.scale):
        yield (*at, "scale"), f"scale is {case.scale}; expected a finite number"
    if any(size < 1 for size in case.leading):
        yield (*at, "leading"), f"leading is {list(case.leading)}; expected sizes from 1"


def _dims(problem: CodeProblem, at: At, case: CaseSet) -> Iterator[Found]:
    yield from unknown_names((*at, "dims"), case.dims, sorted(axis_names(problem)), "axis")
    for axis, size in case.dims.items():
        low, high = (size, size) if isinstance(size, int) else size
        if not 0 < low <= high:
            shown = size if isinstance(size, int) else list(size)
            yield (*at, "dims", axis), f"{axis} is {shown}; expected sizes from 1, lowest first"


def _arguments(problem: CodeProblem, at: At, case: CaseSet) -> Iterator[Found]:
    for parameter, value in case.arguments.items():
        stated = problem.parameters.get(parameter)
        if stated is None:
            continue  # an unknown parameter has its finding already
        if is_fixed(value):
            yield from _numbers((*at, parameter), parameter, stated, value)
        else:
            yield from _generator((*at, parameter), problem, stated, value)


def _generator(at: At, problem: CodeProblem, stated: Parameter, value: object) -> Iterator[Found]:
    name = value.draw if isinstance(value, Draw) else str(value)
    where = (*at, "draw") if isinstance(value, Draw) else at
    wanted = MaskGenerator if stated.dtype == "bool" else NumberGenerator
    what = f"generator for {'masks' if stated.dtype == 'bool' else 'numbers'}"
    if message := unknown(name, get_args(wanted), what):
        yield where, message
    elif name == "causal" and len(named_axes(stated)) < 2:
        yield where, "a causal mask needs two axes"
    if isinstance(value, Draw):
        yield from unknown_names((*at, "sizes"), value.sizes, sorted(axis_names(problem)), "axis")
        if any(size < 1 for size in (*value.sizes.values(), *(value.leading or ()))):
            yield at, "expected sizes from 1"


def _numbers(at: At, name: str, stated: Parameter, value: object) -> Iterator[Found]:
    shape = shape_of_numbers(value)
    if shape is None:
        yield at, "expected numbers in lists of equal length"
        return
    if not all(_is_storable(number) for number in _flat(value)):
        yield at, "a fixed value is NaN, infinite or too large; expected finite numbers"
    axes = named_axes(stated)
    free = stated.shape[:1] == (ELLIPSIS,)
    if len(shape) < len(axes) or (len(shape) > len(axes) and not free):
        wanted = ", ".join(map(str, stated.shape))
        yield at, f"{name} has shape {list(shape)}; expected the axes [{wanted}]"


def _is_storable(number: float) -> bool:
    return abs(number) <= LARGEST_INTEGER if isinstance(number, int) else math.isfinite(number)


def _flat(value: object) -> Iterator[float]:
    if isinstance(value, list | tuple):
        for member in value:
            yield from _flat(member)
    else:
        assert isinstance(value, int | float)
        yield value


def _sizes(problem: CodeProblem, at: At, case: CaseSet) -> Iterator[Found]:
    sizes: dict[str | int, tuple[int, str]] = {}
    for parameter, axis, size in fixed_sizes(problem, case):
        known, source = sizes.setdefault(axis, _stated_size(case, axis, size, parameter))
        if known != size:
            yield (
                (*at, parameter),
                f"the axis {axis} has size {size} in {parameter}, but {known} in {source}",
            )
    ranges = size_ranges(problem, case)
    if case.distinct_dims and not can_differ(ranges):
        listed = ", ".join(f"{axis} {low} to {high}" for axis, (low, high) in ranges.items())
        yield (
            (*at, "distinct_dims"),
            f"no pairwise different sizes in {listed}; expected wider ranges in `dims`",
        )
    entries = case.count * sum(_most_entries(p, case, ranges) for p in problem.parameters.values())
    if entries > ENTRIES_LIMIT:
        yield at, f"its inputs can have {entries} numbers; at most {ENTRIES_LIMIT} are drawn"


def _stated_size(case: CaseSet, axis: str | int, size: int, parameter: str) -> tuple[int, str]:
    """What the file says first about an axis: in the shape, in ``dims``, or in a fixed value."""
    if isinstance(axis, int):
        return axis, "its shape"
    stated = case.dims.get(axis, size)
    low, high = (stated, stated) if isinstance(stated, int) else stated
    if low <= size <= high:
        return size, parameter
    return (low if size < low else high), "`dims`"


def _most_entries(stated: Parameter, case: CaseSet, ranges: dict[str, tuple[int, int]]) -> int:
    named = [axis if isinstance(axis, int) else ranges[axis][1] for axis in named_axes(stated)]
    leading = case.leading if ELLIPSIS in stated.shape else ()
    return math.prod([*leading, *named])
