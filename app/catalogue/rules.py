"""What a problem file must say without contradicting itself, beyond the type of each key."""

import ast
import math
import re
from collections.abc import Iterable, Iterator, Mapping

from app.catalogue.case_rules import case_findings, entry_findings
from app.catalogue.known import At, Found, unknown, unknown_names
from app.catalogue.staff_code import defined_names, parameters_of
from app.domain.answers import parse_answers
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
from app.domain.problem import (
    CodeProblem,
    Entry,
    FieldProblem,
    Problem,
    TextProblem,
    called_by,
    entries_of,
    is_reference,
    questions_of,
    solution_of,
    written_entries,
)
from app.errors import UnreadableSubmission

ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,47}", re.IGNORECASE)
PART = re.compile(r"([^\[\]]+)(?:\[-?\d+(?:, *-?\d+)*\])?")

TEXT_LIMIT = 100_000
"""The longest text that a problem may ask for, in characters."""

LIMITS = {"wall_s": 600, "case_s": 600, "memory_mb": 16384}
"""The most that a problem may allow; a typing error must not hold a worker for a day."""


def findings(problem: Problem) -> Iterator[Found]:
    """Every contradiction, as (location, message)."""
    yield from _identifiers(problem)
    yield from _points(problem)
    yield from _limits(problem)
    yield from _checks(problem)
    yield from _variants(problem)
    if isinstance(problem, CodeProblem):
        yield from _code(problem)
    else:
        yield from _answers(problem)


def _identifiers(problem: Problem) -> Iterator[Found]:
    yield from _identifier(("id",), problem.id)
    for part in ("rubric", "checks", "accepted", "misconceptions"):
        ids = [entry.id for entry in getattr(problem, part, ())]
        for n, name in enumerate(ids):
            yield from _identifier((part, n, "id"), name)
            if name in ids[:n]:
                yield (part, n, "id"), f"the id `{name}` stands in {part} twice"


def _identifier(at: At, name: str) -> Iterator[Found]:
    if not ID.fullmatch(name):
        yield at, f"id is {name[:60]!r}; expected up to 48 letters, digits, '-' and '_'"


def _points(problem: Problem) -> Iterator[Found]:
    total = math.fsum(each.points for each in questions_of(problem))
    if not (math.isfinite(total) and math.isclose(total, problem.points)):
        yield (
            ("points",),
            f"points is {problem.points:g}, but the checks add up to {total:g}",
        )
    for part in ("rubric", "checks"):
        for n, each in enumerate(getattr(problem, part, ())):
            if not each.points > 0:
                yield (part, n, "points"), f"points is {each.points:g}; expected more than 0"


def _limits(problem: Problem) -> Iterator[Found]:
    for name, highest in LIMITS.items():
        limit = getattr(problem.limits, name)
        if not 0 < limit <= highest:
            yield (
                ("limits", name),
                f"{name} is {limit:g}; expected more than 0 and at most {highest}",
            )


def _checks(problem: Problem) -> Iterator[Found]:
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
        yield from _property((*at, "holds"), check.holds, "holds", problem)
    elif not isinstance(check, ValuesCheck):
        yield (*at, "kind"), f"kind {check.kind} needs code; expected values or property"


def _property(at: At, code: str, function: str, problem: FieldProblem) -> Iterator[Found]:
    wrong = list(_python(at, code))
    yield from wrong
    if wrong:
        return
    names = parameters_of(code, function)
    if not names:
        yield at, f"expected a function `{function}` of one field or more"
    for name in names:
        if message := unknown(name, problem.fields, "field"):
            yield at, message


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


def _variants(problem: Problem) -> Iterator[Found]:
    ids = [each.id for each in questions_of(problem)]
    wanted = "code" if isinstance(problem, CodeProblem) else "answers"
    for part in ("accepted", "misconceptions"):
        for n, variant in enumerate(getattr(problem, part)):
            at = (part, n)
            if variant.changes:
                yield from _changes((*at, "changes"), variant.changes, problem)
            kinds = ("code", "answers", "text")
            given = [key for key in kinds if getattr(variant, key, None) is not None]
            if given == ["text"] and isinstance(problem, TextProblem):
                continue
            if given != [wanted]:
                yield at, f"`{variant.id}` has {given or 'nothing'}; expected `{wanted}` alone"
            elif wanted == "code":
                yield from _python((*at, "code"), variant.code)
            else:
                assert not isinstance(problem, CodeProblem)
                yield from _values((*at, "answers"), variant.answers, problem)
    for n, accepted in enumerate(problem.accepted):
        yield from unknown_names(("accepted", n, "except"), accepted.excused, ids, "check")
        yield from unknown_names(("accepted", n, "points"), accepted.points, ids, "check")
    for n, wrong in enumerate(problem.misconceptions):
        yield from unknown_names(
            ("misconceptions", n, "caught_by"), [wrong.caught_by], ids, "check"
        )
        yield from unknown_names(("misconceptions", n, "passes"), wrong.passes, ids, "check")
        if wrong.when and not isinstance(problem, CodeProblem):
            yield from _property(("misconceptions", n, "when"), wrong.when, "when", problem)


def _changes(at: At, changes: Mapping[str, str], problem: Problem) -> Iterator[Found]:
    first = problem.accepted[0].code if problem.accepted else None
    if first is None:
        yield at, "there is no accepted code to change; expected the first of `accepted` in full"
        return
    for old in changes:
        if first.count(old) != 1:
            yield (*at, old), f"this stands {first.count(old)} times in `{problem.accepted[0].id}`"


def _code(problem: CodeProblem) -> Iterator[Found]:
    if bool(problem.entry) == bool(problem.entries):
        yield (), "expected `entry` with `parameters` and `returns`, or `entries`, not both"
        return
    yield from _python(("starter",), problem.starter)
    yield from _python(("given",), problem.given)
    if not is_reference(problem.solution):
        yield from _python(("solution",), problem.solution)
    found = [f for name, entry in entries_of(problem).items() for f in _entry(problem, name, entry)]
    yield from found
    if found:
        return  # cases cannot be looked at while it is unclear what they call
    for name, case in problem.cases.items():
        yield from case_findings(problem, name, case)
    yield from _solved(problem)


def _entry(problem: CodeProblem, name: str, entry: Entry) -> Iterator[Found]:
    at: At = ("entries", name) if problem.entries else ()
    where = (*at, "uses") if problem.entries else ("entry",)
    if not name.isidentifier():
        yield at or where, f"entry is {name!r}; expected the name of a function"
    if not entry.uses and name in defined_names(problem.given):
        yield ("given",), f"`given` defines `{name}`, which the student is to write"
    if entry.uses and name not in defined_names(problem.given):
        yield at, f"`{name}` uses the student's functions, but `given` does not define it"
    yield from unknown_names(where, entry.uses, written_entries(problem), "entry")
    if entry.solution and not is_reference(entry.solution):
        yield from _python((*at, "solution"), entry.solution)
    yield from entry_findings(at, entry)


def _solved(problem: CodeProblem) -> Iterator[Found]:
    for name in {called_by(problem, case) for case in problem.cases.values()}:
        solution = solution_of(problem, name)
        if not solution:
            yield (), f"nothing says what `{name}` gives; expected `solution`"
        elif is_reference(solution) and any(
            stated.function for stated in entries_of(problem)[name].parameters.values()
        ):
            yield (), f"`{name}` takes a function; expected a `solution` in code"
        elif (
            is_reference(solution)
            and entries_of(problem)[name].uses
            and solution == problem.solution
        ):
            yield ("entries", name), f"`{name}` needs a `solution` of its own"


def _answers(problem: FieldProblem) -> Iterator[Found]:
    solution = problem.solution
    if isinstance(problem, TextProblem):
        yield from _text(problem)
    if isinstance(solution, Mapping):
        yield from _values(("solution",), solution, problem)
        for name in problem.fields:
            if name not in solution:
                yield ("solution",), f"the solution gives no value for the field `{name}`"
    elif not is_reference(solution):
        yield ("solution",), "expected the fields' values, or `reference.module:function`"


def _text(problem: TextProblem) -> Iterator[Found]:
    if not 1 <= problem.max_chars <= TEXT_LIMIT:
        yield ("max_chars",), f"max_chars is {problem.max_chars}; expected 1 to {TEXT_LIMIT}"
    if not problem.rubric:
        yield ("rubric",), "the rubric is empty; a problem without one is of kind answer"
    checks = {check.id for check in problem.checks}
    for n, line in enumerate(problem.rubric):
        if line.id in checks:
            yield ("rubric", n, "id"), f"the id `{line.id}` stands in rubric and in checks"


def _values(at: At, answers: Mapping[str, object], problem: FieldProblem) -> Iterator[Found]:
    yield from unknown_names(at, answers, problem.fields, "field")
    for name, value in answers.items():
        if name in problem.fields:
            try:
                parse_answers(problem.fields, {name: value})
            except UnreadableSubmission as error:
                yield (*at, name), str(error)


def _python(at: At, code: str | None) -> Iterator[Found]:
    # Staff wrote this text, so reading it here is safe; a student's is read in the sandbox only.
    try:
        ast.parse(code or "")
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = f" in its line {line}" if line else ""
        yield at, f"this is not Python{where}: {getattr(error, 'msg', error)}"
