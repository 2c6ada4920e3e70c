"""What a problem file must say without contradicting itself, beyond the type of each key."""

import ast
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from app.domain.checks import Check, NoLeakCheck, RowSumsCheck, ZerosCheck
from app.domain.problem import (
    GENERATORS,
    AnswerProblem,
    CaseSet,
    CodeProblem,
    Problem,
    is_reference,
)

Found = tuple[tuple[str | int, ...], str]

ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.IGNORECASE)


def findings(problem: Problem) -> Iterator[Found]:
    """Every contradiction, as (location, message)."""
    yield from _identifiers(problem)
    yield from _points(problem)
    yield from _checks(problem)
    yield from _variants(problem)
    if isinstance(problem, CodeProblem):
        yield from _code(problem)
    else:
        yield from _answers(problem)


def _identifiers(problem: Problem) -> Iterator[Found]:
    if not ID.fullmatch(problem.id):
        yield ("id",), f"id is {problem.id!r}; expected letters, digits, '-' and '_'"
    for part in ("checks", "accepted", "misconceptions"):
        ids = [entry.id for entry in getattr(problem, part)]
        repeated = {name for name, count in Counter(ids).items() if count > 1}
        for n, name in enumerate(ids):
            if name in repeated and name in ids[:n]:
                yield (part, n, "id"), f"the id `{name}` stands in {part} twice"


def _points(problem: Problem) -> Iterator[Found]:
    total = math.fsum(check.points for check in problem.checks)
    if not math.isclose(total, problem.points):
        yield (
            ("points",),
            f"points is {problem.points:g}, but the checks add up to {total:g}",
        )
    for n, check in enumerate(problem.checks):
        if not check.points > 0:
            yield ("checks", n, "points"), f"points is {check.points:g}; expected more than 0"


def _checks(problem: Problem) -> Iterator[Found]:
    names = _results(problem)
    ids = [check.id for check in problem.checks]
    for n, check in enumerate(problem.checks):
        at = ("checks", n)
        yield from _known((*at, "of"), [part.split("[")[0] for part in check.of], names, "result")
        yield from _known((*at, "requires"), check.requires, ids[:n], "earlier check")
        if check.atol < 0 or check.rtol < 0:
            yield (*at, "atol"), "a tolerance is never negative"
        if isinstance(problem, CodeProblem):
            yield from _code_check(problem, check, at)
        elif check.cases:
            yield (*at, "cases"), "a problem of kind answer has no cases"


def _results(problem: Problem) -> Iterable[str]:
    return problem.returns if isinstance(problem, CodeProblem) else problem.fields


def _code_check(problem: CodeProblem, check: Check, at: tuple[str | int, ...]) -> Iterator[Found]:
    if not check.cases:
        yield at, f"the check `{check.id}` names no cases; expected `cases: [...]`"
    yield from _known((*at, "cases"), check.cases, problem.cases, "case")
    needs_mask = isinstance(check, ZerosCheck | RowSumsCheck | NoLeakCheck) or check.rows
    if needs_mask and check.by is None and not isinstance(check, RowSumsCheck):
        yield at, f"the check `{check.id}` needs `by`, the name of the mask parameter"
    if check.by is not None:
        yield from _known((*at, "by"), [check.by], problem.parameters, "parameter")
    if isinstance(check, NoLeakCheck):
        yield from _known((*at, "vary"), check.vary, problem.parameters, "parameter")
        yield from _replacements(check, at)


def _replacements(check: NoLeakCheck, at: tuple[str | int, ...]) -> Iterator[Found]:
    values = check.replacements
    if not all(math.isfinite(value) for value in values):
        yield (
            (*at, "replacements"),
            "a replacement is NaN or infinite; right code would seem to leak, since 0·NaN is NaN",
        )
    if not (any(value > 0 for value in values) and any(value < 0 for value in values)):
        yield (
            (*at, "replacements"),
            "expected replacements of both signs: one alone can hide a leak",
        )


def _variants(problem: Problem) -> Iterator[Found]:
    ids = [check.id for check in problem.checks]
    wanted = "code" if isinstance(problem, CodeProblem) else "answers"
    for part in ("accepted", "misconceptions"):
        for n, variant in enumerate(getattr(problem, part)):
            at = (part, n)
            given = [key for key in ("code", "answers") if getattr(variant, key) is not None]
            if given != [wanted]:
                yield at, f"`{variant.id}` has {given or 'nothing'}; expected `{wanted}` alone"
            elif wanted == "code":
                yield from _python((*at, "code"), variant.code)
            else:
                assert isinstance(problem, AnswerProblem)
                yield from _known((*at, "answers"), variant.answers, problem.fields, "field")
    for n, accepted in enumerate(problem.accepted):
        yield from _known(("accepted", n, "except"), accepted.excused, ids, "check")
        yield from _known(("accepted", n, "points"), accepted.points, ids, "check")
    for n, wrong in enumerate(problem.misconceptions):
        yield from _known(("misconceptions", n, "caught_by"), [wrong.caught_by], ids, "check")
        yield from _known(("misconceptions", n, "passes"), wrong.passes, ids, "check")


def _code(problem: CodeProblem) -> Iterator[Found]:
    yield from _python(("starter",), problem.starter)
    if not is_reference(problem.solution):
        yield from _python(("solution",), problem.solution)
    for name, case in problem.cases.items():
        yield from _case(problem, name, case)


def _case(problem: CodeProblem, name: str, case: CaseSet) -> Iterator[Found]:
    at = ("cases", name)
    yield from _known(at, case.arguments, problem.parameters, "parameter or key of a case")
    if not 1 <= case.count <= 1000:
        yield (*at, "count"), f"count is {case.count}; expected 1 to 1000"
    for parameter, value in case.arguments.items():
        yield from _argument((*at, parameter), value)
    for axis, size in case.dims.items():
        low, high = (size, size) if isinstance(size, int) else size
        if not 0 < low <= high:
            yield (*at, "dims", axis), f"{axis} is {size}; expected sizes from 1, lowest first"


def _argument(at: tuple[str | int, ...], value: object) -> Iterator[Found]:
    if isinstance(value, str):
        yield from _known(at, [value], GENERATORS, "generator")
    elif isinstance(value, dict):
        extra = set(value) - {"draw", "leading", "sizes"}
        if extra or "draw" not in value:
            yield at, f"expected a generator as `draw: NAME`, with `leading` or `sizes`: {value!r}"
        else:
            yield from _known((*at, "draw"), [value["draw"]], GENERATORS, "generator")
    else:
        yield from _numbers(at, value)


def _numbers(at: tuple[str | int, ...], value: object) -> Iterator[Found]:
    if not _shape_of(value):
        yield at, "expected numbers in lists of equal length"
    elif not all(math.isfinite(number) for number in _flat(value)):
        yield at, "a fixed value is NaN or infinite; expected finite numbers"


def _shape_of(value: object) -> tuple[tuple[int, ...]] | None:
    """The shape of nested lists, wrapped so that () is not None; None if ragged or no numbers."""
    if isinstance(value, bool | int | float):
        return ((),)
    if not isinstance(value, list | tuple):
        return None
    shapes = [_shape_of(member) for member in value]
    if None in shapes or len(set(shapes)) > 1:
        return None
    inner = shapes[0] if shapes else ((),)
    return ((len(value), *inner[0]),) if inner else None


def _flat(value: object) -> Iterator[float]:
    if isinstance(value, list | tuple):
        for member in value:
            yield from _flat(member)
    else:
        yield float(value)  # type: ignore[arg-type]


def _answers(problem: AnswerProblem) -> Iterator[Found]:
    solution = problem.solution
    if isinstance(solution, Mapping):
        yield from _known(("solution",), solution, problem.fields, "field")
        for name in problem.fields:
            if name not in solution:
                yield ("solution",), f"the solution gives no value for the field `{name}`"
    elif not is_reference(solution):
        yield ("solution",), "expected the fields' values, or `reference.module:function`"


def _python(at: tuple[str | int, ...], code: str | None) -> Iterator[Found]:
    # Staff wrote this text, so reading it here is safe; a student's is read in the sandbox only.
    try:
        ast.parse(code or "")
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = f" in its line {line}" if line else ""
        yield at, f"this is not Python{where}: {getattr(error, 'msg', error)}"


def _known(
    at: tuple[str | int, ...], given: Iterable[str], known: Iterable[str], what: str
) -> Iterator[Found]:
    names = list(known)
    for position, name in enumerate(given):
        if name in names:
            continue
        step: Sequence[str | int] = [name] if isinstance(given, Mapping) else [position]
        near = get_close_matches(str(name), names, n=1)
        meant = f"did you mean `{near[0]}`?" if near else f"expected one of {', '.join(names)}"
        yield (*at, *step), f"no {what} is called `{name}`; {meant}"
