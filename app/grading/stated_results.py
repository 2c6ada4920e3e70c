"""Whether the solution returns what the file states of its results.

Students read their names, shapes and types on the page and keep to them, but work is compared with
what the solution returns: where the two differ, whoever does as the page says is refused.
"""

from collections.abc import Iterator
from dataclasses import replace

from app.domain.axes import ELLIPSIS, axis_names, named_axes, size_of
from app.domain.expressions import ExpressionError
from app.domain.problem import CodeProblem, Parameter
from app.grading.cases import Case, Sizes
from app.grading.compare import Array
from app.grading.grade import Drawn
from app.grading.proof import Flaw, Location

KINDS = {"f": "float", "i": "int", "u": "int", "b": "bool"}
"""The kinds of numpy's types; how many bits they have is nobody's mistake."""


def stated_result_flaws(problem: CodeProblem, drawn: Drawn) -> Iterator[Flaw]:
    """For each result, the first case that is not as stated."""
    wrong: dict[Location, str] = {}
    for case in drawn.cases:
        for name, stated in case.entry.returns.items():
            array = drawn.expected[case.name][name]
            difference = _of_type(stated, array) or _of_shape(stated, array, _sizes(case))
            at = (*(("entries", case.call) if problem.entries else ()), "returns", name)
            if difference:
                wrong.setdefault(at, f"{difference} (case {case.name})")
    yield from (Flaw(at, f"the result `{at[-1]}` {told}") for at, told in wrong.items())


def _of_type(stated: Parameter, array: Array) -> str | None:
    kind = KINDS.get(array.dtype.kind, array.dtype.name)
    if stated.dtype.startswith(kind):
        return None
    return f"is stated as {stated.dtype}, but the solution returns {array.dtype}"


def _of_shape(stated: Parameter, array: Array, sizes: Sizes) -> str | None:
    axes = named_axes(stated)
    leading = array.ndim - len(axes)
    fits = leading >= 0 if ELLIPSIS in stated.shape else leading == 0
    pairs = zip(axes, array.shape[max(leading, 0) :], strict=False)
    if fits and all(_may_be(axis, size, sizes) for axis, size in pairs):
        return None
    shape = ", ".join(map(str, stated.shape))
    return f"is stated as [{shape}], but the solution returns {list(array.shape)}"


def _may_be(axis: str | int, size: int, sizes: Sizes) -> bool:
    try:
        return size_of(axis, sizes) == size
    except ExpressionError:
        return True  # an axis that no argument has


def _sizes(case: Case) -> Sizes:
    """Of the axes that the arguments have. One that is None has drawn sizes that nothing shows."""
    given = {n: p for n, p in case.entry.parameters.items() if case.arguments[n] is not None}
    known = axis_names(replace(case.entry, parameters=given))
    return {axis: size for axis, size in case.sizes.items() if axis in known}
