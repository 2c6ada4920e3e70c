"""The inputs of a run: fixed ones from the problem file, drawn ones from the run's seed."""

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.domain.axes import ELLIPSIS, Range, is_fixed, size_of, size_ranges
from app.domain.expressions import ExpressionError
from app.domain.problem import CaseSet, CodeProblem, Draw, Entry, Parameter, called_by, entries_of
from app.errors import AttestError
from app.sandbox.job import Function

Array = NDArray[Any]
Sizes = dict[str, int]

GIVEN = "given_by_staff.py"
"""The file of a job that holds the problem's own functions and procedures."""

DRAWS = 1000  # attempts at pairwise different sizes


@dataclass(frozen=True)
class Case:
    """One set of inputs: ``name`` is unique in the run, ``case_set`` names where it came from,
    ``call`` the entry that is called."""

    name: str
    case_set: str
    call: str
    entry: Entry
    arguments: Mapping[str, object]
    sizes: Mapping[str, int]
    file: str | None = None  # where the student's functions must stand; None: in any file


def draw_cases(problem: CodeProblem, seed: int, extra: int = 0) -> tuple[Case, ...]:
    """All cases of a run. The same seed gives the same inputs, whatever else the problem holds.

    ``extra`` above 0 gives further draws of the sets that draw anything, for a diagnosis that
    needs more inputs.
    """
    return tuple(
        case
        for name, case_set in problem.cases.items()
        if not extra or _is_drawn(problem, case_set)
        for case in _drawn(problem, name, case_set, seed, extra)
    )


def _is_drawn(problem: CodeProblem, case_set: CaseSet) -> bool:
    parameters = entries_of(problem)[called_by(problem, case_set)].parameters
    needed = [name for name, p in parameters.items() if not p.optional]
    return case_set.seed is None and any(name not in case_set.arguments for name in needed)


def _drawn(problem: CodeProblem, name: str, case_set: CaseSet, seed: int, extra: int) -> list[Case]:
    # The set's name enters the seed, so that adding a set changes no other set's numbers.
    own_seed = seed if case_set.seed is None else case_set.seed
    rng = np.random.default_rng([own_seed, zlib.crc32(name.encode()), extra])
    single = case_set.count == 1 and not extra
    suffix = f"+{extra}" if extra else ""
    call = called_by(problem, case_set)
    entry = entries_of(problem)[call]
    return [
        Case(
            name if single else f"{name}{suffix}[{number}]",
            name,
            call,
            entry,
            *_inputs(problem, name, case_set, entry, rng),
            problem.file or None,
        )
        for number in range(case_set.count)
    ]


def _inputs(
    problem: CodeProblem, name: str, case_set: CaseSet, entry: Entry, rng: np.random.Generator
) -> tuple[dict[str, object], Sizes]:
    """The arguments of one case, and the sizes of its axes."""
    sizes = _sizes(problem, name, case_set, rng)
    draw = _Drawing(case_set, sizes, rng)
    try:
        arguments = {
            parameter: draw.argument(stated, case_set.arguments.get(parameter))
            for parameter, stated in entry.parameters.items()
        }
    except ExpressionError as error:
        raise AttestError(f"problem {problem.id}, case {name}: {error}") from error
    return arguments, sizes


def _sizes(problem: CodeProblem, name: str, case_set: CaseSet, rng: np.random.Generator) -> Sizes:
    ranges = size_ranges(problem, case_set)
    if not case_set.distinct_dims:
        return {axis: _size(allowed, rng) for axis, allowed in ranges.items()}
    for _ in range(DRAWS):
        sizes = _distinct_sizes(ranges, rng)
        if sizes is not None:
            return sizes
    raise AttestError(
        f"problem {problem.id}, case {name}: no pairwise different sizes in {ranges}; "
        "expected wider ranges in `dims`"
    )


def _size(allowed: Range, rng: np.random.Generator) -> int:
    low, high = allowed
    return int(rng.integers(low, high + 1))


def _distinct_sizes(ranges: Mapping[str, Range], rng: np.random.Generator) -> Sizes | None:
    """Pairwise different sizes, narrow ranges first; None if the draw ran into a corner."""
    sizes: Sizes = {}
    for axis in sorted(ranges, key=lambda name: ranges[name][1] - ranges[name][0]):
        low, high = ranges[axis]
        free = [size for size in range(low, high + 1) if size not in sizes.values()]
        if not free:
            return None
        sizes[axis] = free[int(rng.integers(len(free)))]
    return sizes


@dataclass(frozen=True)
class _Drawing:
    """How the arguments of one case come about, once the sizes of its axes are known."""

    case_set: CaseSet
    sizes: Sizes
    rng: np.random.Generator

    def argument(self, stated: Parameter, given: object) -> object:
        """What the file gives for this parameter, drawn where it gives nothing."""
        if given is None and stated.optional:
            return None
        if stated.members:
            return self._nested(stated, given)
        if stated.function:
            return Function(str(given), GIVEN)
        return self._numbers(stated, given)

    def _nested(self, stated: Parameter, given: object) -> object:
        if stated.repeat is None:
            return self._dictionary(stated, given)
        count = size_of(stated.repeat, self.sizes)
        each = given if isinstance(given, list) else [given] * count
        return [self._dictionary(stated, one) for one in each]

    def _dictionary(self, stated: Parameter, given: object) -> dict[str, object]:
        known = given if isinstance(given, Mapping) else {}
        return {name: self.argument(m, known.get(name)) for name, m in stated.members.items()}

    def _numbers(self, stated: Parameter, given: object) -> object:
        dtype = stated.dtype  # a mask stays a mask, and an index a whole number
        if stated.dtype.startswith("float"):
            dtype = self.case_set.dtype or stated.dtype
        if given is None and stated.value is not None:
            axis = stated.value
            given = size_of(axis, self.sizes) if isinstance(axis, str) else axis
        if given is not None and is_fixed(given):
            array = np.array(given, dtype=dtype)
        else:
            array = self._drawn(stated, given).astype(dtype)
        return array if stated.shape else array.item()

    def _drawn(self, stated: Parameter, given: object) -> Array:
        draw = _as_draw(stated, self.case_set, given)
        shape: list[int] = []
        for axis in stated.shape:
            if axis == ELLIPSIS:
                shape.extend(self.case_set.leading if draw.leading is None else draw.leading)
            else:
                shape.append(size_of(axis, {**self.sizes, **draw.sizes}))
        if stated.below is not None and given is None:
            return self.rng.integers(0, size_of(stated.below, self.sizes), tuple(shape))
        numbers = GENERATORS[draw.draw](self.rng, tuple(shape))
        return numbers if stated.dtype == "bool" else numbers * self.case_set.scale


def _as_draw(stated: Parameter, case_set: CaseSet, given: object) -> Draw:
    if isinstance(given, Draw):
        return given
    if isinstance(given, str):
        return Draw(draw=given)
    return Draw(draw="random_with_one" if stated.dtype == "bool" else case_set.entries)


def _quarters(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return rng.integers(-8, 9, shape) / 4  # exact in binary: no rounding blurs a comparison


def _normals(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return rng.standard_normal(shape)


def _integers(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return rng.integers(-3, 4, shape)


def _causal(_: np.random.Generator, shape: tuple[int, ...]) -> Array:
    t_q, t_k = shape[-2:]
    corner = np.tri(t_q, t_k, t_k - t_q, dtype=np.bool_)  # aligned at the bottom right
    return np.broadcast_to(corner, shape)


def _random(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return rng.random(shape) < 0.5


def _random_with_one(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """A random mask in which every query sees at least one key."""
    forced = rng.integers(0, shape[-1], shape[:-1])
    visible = rng.random(shape) < 0.5
    np.put_along_axis(visible, forced[..., None], True, axis=-1)
    return visible


def _counting(_: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return np.arange(math.prod(shape)).reshape(shape)  # every entry differs: a swap shows


def _hard_bias(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """An additive mask of 0 and -inf in which every query sees at least one key."""
    return np.where(_random_with_one(rng, shape), 0.0, -np.inf)


def _mixed_bias(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Finite biases, and -inf in about half of the places."""
    return _hard_bias(rng, shape) + rng.integers(-12, 13, shape) / 4


def _filled(value: bool | int) -> Callable[[np.random.Generator, tuple[int, ...]], Array]:
    return lambda _, shape: np.full(shape, value)


GENERATORS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Array]] = {
    "quarters": _quarters,
    "normals": _normals,
    "integers": _integers,
    "counting": _counting,
    "hard_bias": _hard_bias,
    "mixed_bias": _mixed_bias,
    "zeros": _filled(0),
    "ones": _filled(1),
    "causal": _causal,
    "random": _random,
    "random_with_one": _random_with_one,
    "all": _filled(True),
    "none": _filled(False),
}
