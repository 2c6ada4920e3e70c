"""What the parameters and the cases of a code problem must say without contradicting themselves."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import get_args

from app.catalogue.known import At, Found, unknown, unknown_names
from app.catalogue.staff_code import defined_names
from app.domain.axes import (
    ELLIPSIS,
    axis_names,
    can_differ,
    fixed_sizes,
    is_fixed,
    named_axes,
    shape_of_numbers,
    size_of,
    size_ranges,
)
from app.domain.expressions import ExpressionError, parse
from app.domain.problem import (
    CaseSet,
    CodeProblem,
    Draw,
    Entry,
    MaskGenerator,
    NumberGenerator,
    Parameter,
    called_by,
    entries_of,
)

KEYS = sorted({field.name for field in fields(CaseSet)} - {"arguments"})
"""What may stand in a case beside the parameters."""

ENTRIES_LIMIT = 10_000_000
"""Numbers in all cases of a set together."""

LARGEST_INTEGER = 2**63 - 1


def entry_findings(at: At, entry: Entry) -> Iterator[Found]:
    """Every shape that cannot be drawn, among parameters and results."""
    names = sorted(axis_names(entry))
    for part, stated in (("parameters", entry.parameters), ("returns", entry.returns)):
        for name, parameter in stated.items():
            yield from _parameter((*at, part, name), parameter, names)


def _parameter(at: At, parameter: Parameter, names: list[str]) -> Iterator[Found]:
    if ELLIPSIS in parameter.shape[1:]:
        yield (*at, "shape"), "leading axes (...) stand first"
    for axis in named_axes(parameter):
        if isinstance(axis, str) and not axis.isidentifier() and (why := _no_formula(axis, names)):
            yield (*at, "shape"), f"{axis!r} cannot name an axis, and is no formula: {why}"
        if isinstance(axis, int) and axis < 1:
            yield (*at, "shape"), f"the axis {axis} is too small; expected sizes from 1"
    for key in ("value", "below", "repeat"):
        size = getattr(parameter, key)
        if isinstance(size, str) and (why := _no_formula(size, names)):
            yield (*at, key), f"{size!r} is no formula in axis names: {why}"
    for name, member in parameter.members.items():
        yield from _parameter((*at, "members", name), member, names)


def _no_formula(axis: str, names: list[str]) -> str | None:
    try:
        parse(axis, names)
    except ExpressionError as error:
        return str(error)
    return None


def case_findings(problem: CodeProblem, name: str, case: CaseSet) -> Iterator[Found]:
    """Every contradiction in one case set."""
    at = ("cases", name)
    entries = entries_of(problem)
    if case.call and (message := unknown(case.call, entries, "entry")):
        yield (*at, "call"), message
        return
    entry = entries[called_by(problem, case)]
    found = [
        *unknown_names(at, case.arguments, [*entry.parameters, *KEYS], "parameter or key"),
        *_count(at, case),
        *_dims(entry, at, case),
        *_arguments(problem, entry, at, case),
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


def _dims(entry: Entry, at: At, case: CaseSet) -> Iterator[Found]:
    yield from unknown_names((*at, "dims"), case.dims, sorted(axis_names(entry)), "axis")
    for axis, size in case.dims.items():
        low, high = (size, size) if isinstance(size, int) else size
        if not 0 < low <= high:
            shown = size if isinstance(size, int) else list(size)
            yield (*at, "dims", axis), f"{axis} is {shown}; expected sizes from 1, lowest first"


def _arguments(problem: CodeProblem, entry: Entry, at: At, case: CaseSet) -> Iterator[Found]:
    axes = sorted(axis_names(entry))
    for parameter, value in case.arguments.items():
        stated = entry.parameters.get(parameter)
        if stated is not None:  # else it has its finding already
            yield from _argument((*at, parameter), parameter, stated, value, axes)
    for parameter, stated in entry.parameters.items():
        if stated.function:
            given = case.arguments.get(parameter)
            defined = sorted(defined_names(problem.given))
            if message := unknown(str(given), defined, "function of `given`"):
                yield (at if given is None else (*at, parameter)), message


def _argument(
    at: At, name: str, stated: Parameter, value: object, axes: list[str]
) -> Iterator[Found]:
    if stated.function:
        return
    if stated.members:
        yield from _members(at, stated, value, axes)
    elif isinstance(value, Mapping):
        yield at, f"{name} is no dictionary; expected numbers, a generator or a draw"
    elif is_fixed(value):
        yield from _numbers(at, name, stated, value)
    else:
        yield from _generator(at, stated, value, axes)


def _members(at: At, stated: Parameter, value: object, axes: list[str]) -> Iterator[Found]:
    each = value if isinstance(value, list) and stated.repeat is not None else [value]
    for n, one in enumerate(each):
        where = (*at, n) if one is not value else at
        if not isinstance(one, Mapping):
            yield where, "expected a mapping of its members"
            continue
        yield from unknown_names(where, one, stated.members, "member")
        for name, member in one.items():
            if name in stated.members:
                yield from _argument((*where, name), name, stated.members[name], member, axes)


def _generator(at: At, stated: Parameter, value: object, axes: list[str]) -> Iterator[Found]:
    name = value.draw if isinstance(value, Draw) else str(value)
    where = (*at, "draw") if isinstance(value, Draw) else at
    wanted = MaskGenerator if stated.dtype == "bool" else NumberGenerator
    what = f"generator for {'masks' if stated.dtype == 'bool' else 'numbers'}"
    if message := unknown(name, get_args(wanted), what):
        yield where, message
    elif name == "causal" and len(named_axes(stated)) < 2:
        yield where, "a causal mask needs two axes"
    if isinstance(value, Draw):
        yield from unknown_names((*at, "sizes"), value.sizes, axes, "axis")
        if any(size < 1 for size in (*value.sizes.values(), *(value.leading or ()))):
            yield at, "expected sizes from 1"


def _numbers(at: At, name: str, stated: Parameter, value: object) -> Iterator[Found]:
    shape = shape_of_numbers(value)
    if shape is None:
        yield at, "expected numbers in lists of equal length"
        return
    if not all(_is_storable(number, stated.infinite) for number in _flat(value)):
        yield at, "a fixed value is NaN, infinite or too large; expected finite numbers"
    axes = named_axes(stated)
    free = stated.shape[:1] == (ELLIPSIS,)
    if len(shape) < len(axes) or (len(shape) > len(axes) and not free):
        wanted = ", ".join(map(str, stated.shape))
        yield at, f"{name} has shape {list(shape)}; expected the axes [{wanted}]"


def _is_storable(number: float, infinite: bool) -> bool:
    if isinstance(number, int):
        return abs(number) <= LARGEST_INTEGER
    return math.isfinite(number) or (infinite and math.isinf(number))


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
    entry = entries_of(problem)[called_by(problem, case)]
    largest = {axis: high for axis, (_, high) in ranges.items()}
    entries = case.count * sum(_most_entries(p, case, largest) for p in entry.parameters.values())
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


def _most_entries(stated: Parameter, case: CaseSet, largest: Mapping[str, int]) -> int:
    if stated.members:
        times = 1 if stated.repeat is None else size_of(stated.repeat, largest)
        return times * sum(_most_entries(m, case, largest) for m in stated.members.values())
    named = [size_of(axis, largest) for axis in named_axes(stated)]
    leading = case.leading if ELLIPSIS in stated.shape else ()
    return math.prod([*leading, *named])
