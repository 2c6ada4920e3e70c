"""Which known misunderstanding a submission equals: exactly one is named, or none.

A misconception is a candidate if it equals the student's results on every case of the run, NaN
equal to NaN. While several are left, further inputs are drawn; whoever still equals the student
then, and fails a check that the student fails, is named, if alone.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from app.domain.checks import Check
from app.domain.outcome import Outcome
from app.domain.problem import CodeProblem, Misconception
from app.domain.run import CheckResult
from app.grading.calls import Calls
from app.grading.cases import Case, draw_cases
from app.grading.checks import further_calls
from app.grading.code import Answers, Run, base_calls, cases_of, judge_check, run_calls
from app.grading.compare import Array, Question, close
from app.grading.expected import sandbox_limits
from app.grading.results import Results, bind
from app.grading.trial import Key
from app.sandbox.job import Answer
from app.sandbox.sandbox import Sandbox

FURTHER_DRAWS = 3

NO_CAUSE = frozenset(
    {Outcome.PASSED, Outcome.NOT_RUN, Outcome.LOAD_ERROR, Outcome.NOT_DEFINED, Outcome.FORBIDDEN}
)
"""Outcomes that no known misunderstanding explains."""


def diagnose(
    run: Run,
    results: Sequence[CheckResult],
    files: Mapping[str, bytes],
    sandbox: Sandbox,
    seed: int,
) -> tuple[CheckResult, ...]:
    """``results`` with the one matching misconception named on each check that it fails too."""
    failed = [r for r in results if r.outcome not in NO_CAUSE]
    if not failed or not run.problem.misconceptions:
        return tuple(results)
    candidates = _equal_everywhere(run, sandbox, seed)
    for extra in range(1, FURTHER_DRAWS + 1):
        if len(candidates) < 2:
            break
        candidates = _still_equal(run.problem, candidates, files, sandbox, seed, extra)
    named = [found for m in candidates if (found := _explained(m, failed, run, sandbox, seed))]
    if len(named) != 1:
        return tuple(results)
    cause, checks = named[0]
    return tuple(
        dataclasses.replace(r, misconception=cause.id) if r.id in checks else r for r in results
    )


def _equal_everywhere(run: Run, sandbox: Sandbox, seed: int) -> list[Misconception]:
    used = [case for case in run.cases if ("base", case.name) in run.answers]
    return _equal(run.problem, run.problem.misconceptions, used, run.answers, sandbox, seed)


def _still_equal(
    problem: CodeProblem,
    candidates: Sequence[Misconception],
    files: Mapping[str, bytes],
    sandbox: Sandbox,
    seed: int,
    extra: int,
) -> list[Misconception]:
    further = draw_cases(problem, seed, extra)
    calls = base_calls(problem, further)
    answers = run_calls(sandbox, files, calls, seed, sandbox_limits(problem))
    return _equal(problem, candidates, further, answers, sandbox, seed)


def _equal(
    problem: CodeProblem,
    candidates: Sequence[Misconception],
    cases: Sequence[Case],
    answers: Answers,
    sandbox: Sandbox,
    seed: int,
) -> list[Misconception]:
    theirs = _answers_of(problem, candidates, cases, sandbox, seed)
    return [
        candidate
        for candidate in candidates
        if all(
            same(problem, case, answers["base", case.name], theirs[candidate.id, case.name])
            for case in cases
        )
    ]


def _answers_of(
    problem: CodeProblem,
    candidates: Sequence[Misconception],
    cases: Sequence[Case],
    sandbox: Sandbox,
    seed: int,
) -> Mapping[Key, Answer]:
    """What each candidate returns. All run in one process, since staff wrote them: one fork."""
    calls: Calls = {
        (candidate.id, case.name): call
        for candidate in candidates
        for case, call in zip(
            cases, base_calls(problem, cases, file=_file(candidate)).values(), strict=True
        )
    }
    files = {_file(c): (c.code or "").encode() for c in candidates}
    return run_calls(sandbox, files, calls, seed, sandbox_limits(problem, len(candidates)))


def _file(misconception: Misconception) -> str:
    return f"known_{misconception.id.replace('-', '_')}.py"


def same(problem: CodeProblem, case: Case, a: Answer, b: Answer) -> bool:
    """Whether two answers are one: the same outcome, or the same arrays within the tolerance."""
    first, second = bind(a, problem.returns), bind(b, problem.returns)
    if first.failure or second.failure:
        return _outcome(first) == _outcome(second)
    atol, rtol = _tolerance(problem, case)
    return first.arrays.keys() == second.arrays.keys() and all(
        _close(first.arrays[n], second.arrays[n], Question(case.name, n, atol, rtol))
        for n in first.arrays
    )


def _outcome(results: Results) -> Outcome | None:
    return results.failure.outcome if results.failure else None


def _close(a: Array, b: Array, question: Question) -> bool:
    return a.shape == b.shape and bool(np.all(close(a, b, question)))


def _tolerance(problem: CodeProblem, case: Case) -> tuple[float, float]:
    """The widest tolerance of the checks that compare values on this case."""
    values = [c for c in problem.checks if c.kind == "values" and case.case_set in c.cases]
    return (
        max((check.atol for check in values), default=1e-9),
        max((check.rtol for check in values), default=0.0),
    )


def _explained(
    candidate: Misconception,
    failed: Sequence[CheckResult],
    run: Run,
    sandbox: Sandbox,
    seed: int,
) -> tuple[Misconception, set[str]] | None:
    """The student's failed checks that ``candidate`` fails with the same outcome."""
    outcomes = {result.id: result.outcome for result in failed}
    checks = [check for check in run.problem.checks if check.id in outcomes]
    calls = base_calls(run.problem, run.cases, echo={case.name for case in run.cases})
    for check in checks:
        for case in cases_of(check, run.cases):
            calls |= further_calls(check, run.problem.entry, case)
    files = {_file(candidate): (candidate.code or "").encode()}
    answers = run_calls(sandbox, files, calls, seed, sandbox_limits(run.problem))
    own = dataclasses.replace(run, answers=answers)
    same_end = {c.id for c in checks if _judged(c, own) == outcomes[c.id]}
    return (candidate, same_end) if same_end else None


def _judged(check: Check, run: Run) -> Outcome:
    return judge_check(check, run).outcome
