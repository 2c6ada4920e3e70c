"""What a problem of kind code must say of its entries without contradicting itself."""

from collections.abc import Iterator

from app.catalogue.case_rules import case_findings, entry_findings
from app.catalogue.known import At, Found, unknown_names
from app.catalogue.staff_code import defined_names, is_name, python_findings
from app.domain.problem import (
    CodeProblem,
    Entry,
    called_by,
    entries_of,
    is_reference,
    solution_of,
    written_entries,
)


def code_findings(problem: CodeProblem) -> Iterator[Found]:
    """Contradictions in the code blocks, the entries, the cases and the solutions."""
    if bool(problem.entry) == bool(problem.entries):
        yield (), "expected `entry` with `parameters` and `returns`, or `entries`, not both"
        return
    if problem.entries and problem.call_by == "name":
        yield ("call_by",), "`call_by` belongs to each of `entries`"
    yield from python_findings(("starter",), problem.starter)
    yield from python_findings(("given",), problem.given)
    if not is_reference(problem.solution):
        yield from python_findings(("solution",), problem.solution)
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
    if not is_name(name):
        yield at or where, f"entry is {name!r}; expected the name of a function"
    if not entry.uses and name in defined_names(problem.given):
        yield ("given",), f"`given` defines `{name}`, which the student is to write"
    if entry.uses and name not in defined_names(problem.given):
        yield at, f"`{name}` uses the student's functions, but `given` does not define it"
    yield from unknown_names(where, entry.uses, written_entries(problem), "entry")
    if entry.call_by == "name":
        yield from _call_by_name(at, entry)
    if entry.solution and not is_reference(entry.solution):
        yield from python_findings((*at, "solution"), entry.solution)
    yield from entry_findings(at, entry)


def _call_by_name(at: At, entry: Entry) -> Iterator[Found]:
    if entry.uses:
        yield (*at, "call_by"), "a procedure is called by position; leave `call_by` out"
    for name in entry.parameters:
        if not is_name(name):
            yield (*at, "parameters", name), f"`{name}` cannot name a parameter in Python"


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
