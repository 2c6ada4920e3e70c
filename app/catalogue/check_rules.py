"""What the checks of a problem file must say without contradicting themselves."""

import math
import re
from collections.abc import Iterable, Iterator

from app.catalogue.answer_rules import property_findings
from app.catalogue.known import At, Found, unknown, unknown_names
from app.domain.checks import (
    CAUSALITY,
    Check,
    InvariantCheck,
    NoLeakCheck,
    PropertyCheck,
    RowSumsCheck,
    StaticCheck,
    ValuesCheck,
    ZerosCheck,
)
from app.domain.problem import CodeProblem, Entry, FieldProblem, Problem, called_by, entries_of

PART = re.compile(r"([^\[\]]+)(?:\[-?\d+(?:, *-?\d+)*\])?")


def check_findings(problem: Problem) -> Iterator[Found]:
    """Contradictions in each check, and between a check and what it asks about."""
    ids = [check.id for check in problem.checks]
    for n, check in enumerate(problem.checks):
        at = ("checks", n)
        yield from _of((*at, "of"), check, _results(problem, check))
        yield from unknown_names((*at, "requires"), check.requires, ids[:n], "earlier check")
        for key, tolerance in (("atol", check.atol), ("rtol", check.rtol)):
            if not 0 <= tolerance < math.inf:
                yield (*at, key), f"{key} is {tolerance}; expected a finite number from 0"
        if check.credit == "per_entry" and not isinstance(check, ValuesCheck):
            yield (*at, "credit"), "only a check of kind values has credit per entry"
        if isinstance(problem, CodeProblem):
            yield from _code_check(problem, check, at)
        else:
            yield from _answer_check(problem, check, at)


def _answer_check(problem: FieldProblem, check: Check, at: At) -> Iterator[Found]:
    if check.cases:
        yield (*at, "cases"), "a problem of kind answer has no cases"
    if isinstance(check, PropertyCheck):
        yield from property_findings((*at, "holds"), check.holds, "holds", problem)
    elif not isinstance(check, ValuesCheck):
        yield (*at, "kind"), f"kind {check.kind} needs code; expected values or property"


def _of(at: At, check: Check, names: Iterable[str]) -> Iterator[Found]:
    for n, part in enumerate(check.of):
        match = PART.fullmatch(part)
        if match is None:
            yield (*at, n), f"of has {part!r}; expected a name such as A, or A[0, 1]"
        elif message := unknown(match[1], names, "result"):
            yield (*at, n), message


def _results(problem: Problem, check: Check) -> Iterable[str]:
    """What ``check`` may ask about: the fields, or what all entries return that its cases call."""
    if not isinstance(problem, CodeProblem):
        return problem.fields
    entries = _called_entries(problem, check)
    first, *others = entries or [*entries_of(problem).values()][:1]
    return [name for name in first.returns if all(name in other.returns for other in others)]


def _called_entries(problem: CodeProblem, check: Check) -> list[Entry]:
    entries = entries_of(problem)
    cases = [problem.cases[name] for name in check.cases if name in problem.cases]
    return [entries[name] for name in dict.fromkeys(called_by(problem, case) for case in cases)]


def _parameters(problem: CodeProblem, check: Check) -> Iterable[str]:
    """The parameters that all entries have which the cases of ``check`` call."""
    first, *others = _called_entries(problem, check) or [*entries_of(problem).values()][:1]
    return [name for name in first.parameters if all(name in other.parameters for other in others)]


def _code_check(problem: CodeProblem, check: Check, at: At) -> Iterator[Found]:
    parameters = _parameters(problem, check)
    if isinstance(check, StaticCheck):
        if check.cases:
            yield (*at, "cases"), "a static check looks at the code alone; it has no cases"
        if not (check.forbid_names or check.forbid_imports):
            yield at, "expected `forbid_names`, `forbid_imports` or both"
    elif not check.cases:
        yield at, f"the check `{check.id}` names no cases; expected `cases: [...]`"
    yield from unknown_names((*at, "cases"), check.cases, problem.cases, "case")
    needs_mask = isinstance(check, ZerosCheck | RowSumsCheck | NoLeakCheck) or check.rows
    if needs_mask and check.by is None and not isinstance(check, RowSumsCheck):
        yield at, f"the check `{check.id}` needs `by`, the name of the mask parameter"
    by_causality = isinstance(check, NoLeakCheck) and check.by == CAUSALITY
    if (
        check.by is not None
        and not by_causality
        and (message := unknown(check.by, parameters, "parameter"))
    ):
        yield (*at, "by"), message
    if isinstance(check, NoLeakCheck):
        yield from unknown_names((*at, "vary"), check.vary, parameters, "parameter")
        yield from _arrays_only((*at, "vary"), check.vary, problem, check)
        yield from _replacements(check, at)
    if isinstance(check, PropertyCheck):
        yield (*at, "kind"), "a property is asked of answers; expected another kind for code"
    if isinstance(check, InvariantCheck):
        yield from unknown_names((*at, "change"), check.change, parameters, "parameter")
        yield from _arrays_only((*at, "change"), check.change, problem, check)


def _arrays_only(
    at: At, names: Iterable[str], problem: CodeProblem, check: Check
) -> Iterator[Found]:
    """What is changed must be an array in every case."""
    for entry in _called_entries(problem, check):
        for name in names:
            stated = entry.parameters.get(name)
            if stated and (
                stated.optional or stated.members or stated.function or not stated.shape
            ):
                yield at, f"`{name}` is not always an array; only arrays can be changed"


def _replacements(check: NoLeakCheck, at: At) -> Iterator[Found]:
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
