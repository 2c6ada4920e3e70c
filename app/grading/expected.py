"""The expected results of a run's cases: the only module that imports the reference.

Called after the submission's first pass through the sandbox has ended, never before.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from app.domain.answers import ExpressionField, Field, ShapeField, Value, parse_answers
from app.domain.problem import AnswerProblem, CodeProblem, Problem, is_reference
from app.errors import AttestError
from app.grading.calls import call
from app.grading.cases import Case
from app.grading.compare import Array
from app.grading.results import bind
from app.sandbox.job import Job, Limits
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
    if is_reference(problem.solution):
        function = reference_function(problem.solution)
        return {case.name: _by_reference(problem, function, case) for case in cases}
    return _by_code(problem, cases, sandbox, seed)


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


def expected_answers(problem: AnswerProblem) -> Mapping[str, Value]:
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
    try:
        returned = function(*case.arguments.values())
        members = returned if isinstance(returned, tuple) else (returned,)
        if isinstance(returned, dict):
            members = tuple(returned[name] for name in problem.returns)
        arrays = [np.asarray(member) for member in members]
        return dict(zip(problem.returns, arrays, strict=True))
    except (TypeError, ValueError, LookupError) as error:
        raise _solution_failed(problem, error, case.name) from error


def _solution_failed(problem: Problem, error: Exception, case: str = "") -> AttestError:
    where = f", case {case}" if case else ""
    told = f"{type(error).__name__}: {error}"
    return AttestError(f"problem {problem.id}{where}: the solution gave {told}")


def _by_code(problem: CodeProblem, cases: Sequence[Case], sandbox: Sandbox, seed: int) -> Expected:
    job = Job(
        files={SOLUTION: problem.solution.encode()},
        calls=tuple(call(problem.entry, case.arguments) for case in cases),
        seed=seed,
        limits=sandbox_limits(problem),
    )
    results = [bind(answer, problem.returns) for answer in sandbox.run(job)]
    for case, result in zip(cases, results, strict=True):
        missing = [name for name in problem.returns if name not in result.arrays]
        if result.failure or missing:
            why = result.failure.outcome if result.failure else f"no {', '.join(missing)}"
            raise AttestError(f"problem {problem.id}, case {case.name}: the solution gave {why}")
    return {case.name: r.arrays for case, r in zip(cases, results, strict=True)}


def sandbox_limits(problem: CodeProblem, copies: int = 1) -> Limits:
    """The problem's limits as the sandbox takes them, for ``copies`` submissions in one job."""
    limits = problem.limits
    return Limits(limits.wall_s * copies, limits.case_s, limits.memory_mb)
