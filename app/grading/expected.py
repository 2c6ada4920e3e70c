"""The expected results of a run's cases: the only module that imports the reference.

Called after the submission's first pass through the sandbox has ended, never before.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from app.domain.answers import ExpressionField, Field, ShapeField, Value, parse_answers
from app.domain.problem import (
    CodeProblem,
    FieldProblem,
    Problem,
    entries_of,
    is_reference,
    solution_of,
)
from app.errors import AttestError
from app.grading.calls import call, files_with_given
from app.grading.cases import Case
from app.grading.compare import Array
from app.grading.results import bind
from app.sandbox.job import Call, Failure, Job, Limits
from app.sandbox.sandbox import Sandbox

Expected = dict[str, Mapping[str, Array]]
"""By case name, then by result name."""

SOLUTION = "solution.py"


def expected_results(
    problem: CodeProblem, cases: Sequence[Case], sandbox: Sandbox, seed: int
) -> Expected:
    """What the solution returns for each case.

    A function of the reference is called here; a block of code runs in the sandbox like anyone's.
    Raises AttestError where the solution fails: that is our fault, not the student's.
    """
    by_code = [case for case in cases if not is_reference(solution_of(problem, case.call))]
    found = _by_code(problem, by_code, sandbox, seed) if by_code else {}
    for case in cases:
        if case.name not in found:
            function = reference_function(solution_of(problem, case.call))
            found[case.name] = _by_reference(problem, function, case)
    return found


def reference_function(solution: str) -> Callable[..., Any]:
    """The function that ``reference.module:function`` names. Raises AttestError if none is."""
    module, _, name = solution.partition(":")
    try:
        function = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise AttestError(f"the solution `{solution}` is not in the reference: {error}") from error
    if not callable(function):
        raise AttestError(f"the solution `{solution}` is no function")
    return function  # type: ignore[no-any-return]


def sized(function: Callable[..., Any], sizes: Mapping[str, float]) -> Any:
    """Calls ``function`` with those of ``sizes`` that it has parameters for."""
    taken = inspect.signature(function).parameters
    return function(**{name: size for name, size in sizes.items() if name in taken})


def expected_answers(problem: FieldProblem) -> Mapping[str, Value]:
    """The right value of every field, in the form that a student's answer is read into."""
    if isinstance(problem.solution, str):
        function = reference_function(problem.solution)
        try:
            raw = {n: _quantity(function, n, field) for n, field in problem.fields.items()}
        except (TypeError, ValueError, LookupError) as error:
            raise _solution_failed(problem, error) from error
    else:
        raw = dict(problem.solution)
    return parse_answers(problem.fields, raw)


def _quantity(function: Callable[..., Any], name: str, field: Field) -> object:
    """What ``function`` gives for one field, at the sizes that the question fixes."""
    if isinstance(field, ShapeField | ExpressionField):
        value = sized(function, field.sizes or {})[field.quantity or name]
    else:
        value = sized(function, {})[name]
    return list(value) if isinstance(value, tuple) else value


def _by_reference(
    problem: CodeProblem, function: Callable[..., Any], case: Case
) -> Mapping[str, Array]:
    names = case.entry.returns
    try:
        returned = function(*case.arguments.values())
        members = returned if isinstance(returned, tuple) else (returned,)
        if isinstance(returned, dict):
            members = tuple(returned[name] for name in names)
        arrays = [_plain(member) for member in members]
        return dict(zip(names, arrays, strict=True))
    except (TypeError, ValueError, LookupError) as error:
        raise _solution_failed(problem, error, case.name) from error


def second_opinion(problem: CodeProblem, case: Case) -> Mapping[str, Array] | None:
    """What ``reference.modules``, written apart, gives for a case; None where it has no such
    function. Raises AttestError where it fails."""
    module, _, name = solution_of(problem, case.call).partition(":")
    other = module.replace("reference.ops.", "reference.modules.")
    if other == module or find_spec(other) is None or not hasattr(import_module(other), name):
        return None
    return _by_reference(problem, reference_function(f"{other}:{name}"), case)


def _plain(member: Any) -> Array:
    """An array of a number, an array, or a tensor that belongs to an autograd graph."""
    return np.asarray(member.detach() if hasattr(member, "detach") else member)


def _solution_failed(problem: Problem, error: Exception, case: str = "") -> AttestError:
    where = f", case {case}" if case else ""
    told = f"{type(error).__name__}: {error}"
    return AttestError(f"problem {problem.id}{where}: the solution gave {told}")


def _by_code(problem: CodeProblem, cases: Sequence[Case], sandbox: Sandbox, seed: int) -> Expected:
    """Solutions in code: the problem's own is what procedures use, an entry's own is called alone.

    Each stands in a file of its own, and all run in one process: staff wrote them."""
    files = {_solution_file(problem, case): solution_of(problem, case.call) for case in cases}
    job = Job(
        files=files_with_given(problem, {name: code.encode() for name, code in files.items()}),
        calls=tuple(_solution_call(problem, case) for case in cases),
        seed=seed,
        limits=sandbox_limits(problem),
    )
    results = [
        bind(answer, case.entry.returns)
        for case, answer in zip(cases, sandbox.run(job), strict=True)
    ]
    for case, result in zip(cases, results, strict=True):
        missing = [name for name in case.entry.returns if name not in result.arrays]
        if result.failure or missing:
            why = _told(result.failure) if result.failure else f"no {', '.join(missing)}"
            raise AttestError(f"problem {problem.id}, case {case.name}: the solution gave {why}")
    return {case.name: r.arrays for case, r in zip(cases, results, strict=True)}


def _told(failure: Failure) -> str:
    return f"{failure.outcome}: {failure.detail}" if failure.detail else failure.outcome


def _solution_file(problem: CodeProblem, case: Case) -> str:
    own = entries_of(problem)[case.call].solution
    return f"solution_{case.call}.py" if own else SOLUTION


def _solution_call(problem: CodeProblem, case: Case) -> Call:
    file = _solution_file(problem, case)
    if file == SOLUTION:
        return call(case, file=file)
    return Call(case.call, tuple(case.arguments.values()), file=file)


def sandbox_limits(problem: CodeProblem, copies: int = 1) -> Limits:
    """The problem's limits as the sandbox takes them, for ``copies`` submissions in one job."""
    limits = problem.limits
    return Limits(limits.wall_s * copies, limits.case_s, limits.memory_mb)
