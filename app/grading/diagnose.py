"""Which known misunderstanding a submission equals: exactly one is named, or none.

A misconception may be the cause of a failed check if it fails it with the same outcome, and gives
the student's results, NaN equal to NaN, on every case that calls no other functions than those of
the check's deciding case and those that the misconception gets wrong. So of mistakes in two
functions each is named, and two in one function equal no known one. While a check has several
candidates, further inputs are drawn.

Misconceptions run in the sandbox like anyone's code; all of them share one process on the first
failed cases, which leaves few that need more.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.domain.checks import InputsUnchangedCheck
from app.domain.outcome import Outcome
from app.domain.problem import CodeProblem, Misconception, check_of
from app.domain.run import CheckResult
from app.grading.calls import Calls
from app.grading.cases import Case, draw_cases
from app.grading.checks import further_calls, judge
from app.grading.code import Answers, Run, base_calls, isolated, reseeded_answers, run_calls
from app.grading.compare import Array, Question, close
from app.grading.expected import sandbox_limits
from app.grading.results import Results, bind
from app.grading.trial import base_key
from app.sandbox.job import Answer
from app.sandbox.sandbox import Sandbox

FURTHER_DRAWS = 3

NO_CAUSE = frozenset(
    {Outcome.PASSED, Outcome.NOT_RUN, Outcome.LOAD_ERROR, Outcome.NOT_DEFINED, Outcome.FORBIDDEN}
)
"""Outcomes that no known misunderstanding explains."""


@dataclass(frozen=True)
class Failed:
    """A failed check with the case that decided it."""

    result: CheckResult
    case: Case


@dataclass(frozen=True)
class Candidate:
    """A misconception that may be the cause of these failed checks: with these of the student's
    functions it gives the student's results."""

    known: Misconception
    checks: frozenset[str]
    functions: frozenset[str]


def diagnose(
    run: Run,
    results: Sequence[CheckResult],
    files: Mapping[str, bytes],
    sandbox: Sandbox,
    seed: int,
) -> tuple[CheckResult, ...]:
    """``results`` with the misconception named on each failed check that exactly one explains."""
    results = [_forbidden(result, run.problem) for result in results]
    failed = _failed(run, results)
    if not failed or not run.problem.misconceptions:
        return tuple(results)
    likely = _likely(failed, run, sandbox, seed)
    candidates = [_candidate(known, failed, run, sandbox, seed) for known in likely]
    for extra in range(1, FURTHER_DRAWS + 1):
        if all(len(_causes(result, candidates)) < 2 for result in results):
            break
        further = _answered(run, files, draw_cases(run.problem, seed, extra), sandbox, seed)
        candidates = _still_equal(candidates, further, sandbox, seed)
    return tuple(_named(result, _causes(result, candidates)) for result in results)


def _named(result: CheckResult, causes: Sequence[Misconception]) -> CheckResult:
    return dataclasses.replace(result, misconception=causes[0].id) if len(causes) == 1 else result


def _causes(result: CheckResult, candidates: Sequence[Candidate]) -> list[Misconception]:
    """What explains a failed check: of two the one that explains more functions."""
    able = [c for c in candidates if result.id in c.checks]
    return [c.known for c in able if not any(c.functions < other.functions for other in able)]


def _forbidden(result: CheckResult, problem: CodeProblem) -> CheckResult:
    """What stands in the code says by itself what was misunderstood, if only one thing can be."""
    caught = [known.id for known in problem.misconceptions if known.caught_by == result.id]
    if result.outcome != Outcome.FORBIDDEN or len(caught) != 1:
        return result
    return dataclasses.replace(result, misconception=caught[0])


def _failed(run: Run, results: Sequence[CheckResult]) -> list[Failed]:
    cases = {case.name: case for case in run.cases}
    return [
        Failed(result, cases[str(result.finding.facts["case"])])
        for result in results
        if result.outcome not in NO_CAUSE and result.finding
    ]


def _answered(
    run: Run, files: Mapping[str, bytes], cases: Sequence[Case], sandbox: Sandbox, seed: int
) -> Run:
    """The submission's answers on further cases."""
    calls = base_calls(cases)
    answers = run_calls(sandbox, run.problem, files, calls, seed)
    return Run(run.problem, cases, answers, expected={})


def _likely(failed: Sequence[Failed], run: Run, sandbox: Sandbox, seed: int) -> list[Misconception]:
    """Those that give the student's answer on the first failed case of some functions."""
    first = {functions_of(f.case): f.case for f in reversed(failed)}
    known = run.problem.misconceptions
    agreed = _agreed(known, list(first.values()), run, sandbox, seed)
    return [candidate for candidate in known if agreed[candidate.id]]


def _still_equal(
    candidates: Sequence[Candidate], further: Run, sandbox: Sandbox, seed: int
) -> list[Candidate]:
    """Those that give the student's answers on the further cases of their functions too."""
    known = [candidate.known for candidate in candidates]
    agreed = _agreed(known, further.cases, further, sandbox, seed)
    return [c for c in candidates if _of_these(c.functions, further.cases) <= agreed[c.known.id]]


def functions_of(case: Case) -> frozenset[str]:
    """The student's functions that a case calls: its entry, or those that a procedure uses."""
    return frozenset(case.entry.uses or (case.call,))


def _of_these(functions: frozenset[str], cases: Sequence[Case]) -> set[str]:
    """The names of the cases that call no other functions."""
    return {case.name for case in cases if functions_of(case) <= functions}


def _agreed(
    candidates: Sequence[Misconception],
    cases: Sequence[Case],
    run: Run,
    sandbox: Sandbox,
    seed: int,
) -> dict[str, set[str]]:
    """The names of the cases on which each of ``candidates`` gives the student's answer."""
    theirs = _answers_of(candidates, cases, run.problem, sandbox, seed)
    return {
        candidate.id: {
            case.name
            for case in cases
            if same(run.problem, case, _own(run, case), theirs[candidate.id, *base_key(case)])
        }
        for candidate in candidates
    }


def _answers_of(
    candidates: Sequence[Misconception],
    cases: Sequence[Case],
    problem: CodeProblem,
    sandbox: Sandbox,
    seed: int,
) -> Answers:
    """What each candidate gives. All run in one process, since staff wrote them: one fork."""
    calls: Calls = {
        (candidate.id, *key): call
        for candidate in candidates
        for key, call in base_calls(cases, file=_file(candidate)).items()
    }
    files = {_file(candidate): _code(candidate) for candidate in candidates}
    limits = sandbox_limits(problem, len(candidates))
    answers = run_calls(sandbox, problem, files, calls, seed, limits)
    if len(candidates) == 1 or not any(map(_is_unloadable, answers.values())):
        return answers
    # One file that cannot be loaded has kept all others from being called.
    alone = [_answers_of([c], cases, problem, sandbox, seed) for c in candidates]
    return {key: answer for answers in alone for key, answer in answers.items()}


def _is_unloadable(answer: Answer) -> bool:
    return answer.failure is not None and answer.failure.outcome == Outcome.LOAD_ERROR


def _own(run: Run, case: Case) -> Answer:
    return run.answers[base_key(case)]


def _file(misconception: Misconception) -> str:
    return f"known_{misconception.id}.py"


def _code(misconception: Misconception) -> bytes:
    return (misconception.code or "").encode()


def _candidate(
    known: Misconception, failed: Sequence[Failed], run: Run, sandbox: Sandbox, seed: int
) -> Candidate:
    """What ``known`` explains: the failed checks that it fails with the same outcome on the same
    case, giving the student's answers wherever that is asked of it."""
    cases = [case for case in run.cases if base_key(case) in run.answers]
    calls = _calls_on(run.problem, cases, failed)
    files = {run.problem.file or _file(known): _code(known)}
    answers = run_calls(sandbox, run.problem, files, calls, seed)
    answers = {**answers, **reseeded_answers(sandbox, run.problem, files, run.cases, seed)}
    theirs = dataclasses.replace(run, answers=answers)
    equal = {c.name for c in cases if same(run.problem, c, _own(run, c), _own(theirs, c))}
    wrong = _wrong_functions(theirs, cases)
    explained = [
        f
        for f in failed
        if _of_these(wrong | functions_of(f.case), cases) <= equal
        and _outcome(f, theirs) == f.result.outcome
    ]
    return Candidate(
        known,
        checks=frozenset(f.result.id for f in explained),
        functions=wrong.union(*(functions_of(f.case) for f in explained)),
    )


def _wrong_functions(run: Run, cases: Sequence[Case]) -> frozenset[str]:
    """The functions of a submission that give something wrong. Where a case calls several, one
    that is known to be wrong is taken to be why."""
    wrong: frozenset[str] = frozenset()
    for case in sorted(cases, key=lambda case: len(functions_of(case))):
        if not wrong & functions_of(case) and not _is_right(run, case):
            wrong |= functions_of(case)
    return wrong


def _is_right(run: Run, case: Case) -> bool:
    results, expected = bind(_own(run, case), case.entry.returns), run.expected[case.name]
    atol, rtol = _tolerance(run.problem, case)
    return all(
        name in results.arrays
        and _close(results.arrays[name], expected[name], Question(case.name, name, atol, rtol))
        for name in expected
    )


def _calls_on(problem: CodeProblem, cases: Sequence[Case], failed: Sequence[Failed]) -> Calls:
    """Every case's own call, and what the failed checks need on the cases that decided them."""
    checks = [(check_of(problem, f.result.id), f.case) for f in failed]
    echo = {case.name for check, case in checks if isinstance(check, InputsUnchangedCheck)}
    calls = base_calls(cases, echo=echo)
    for check, case in checks:
        calls |= further_calls(check, case)
    return isolated(calls, problem, cases)


def _outcome(failed: Failed, run: Run) -> Outcome:
    verdict = judge(check_of(run.problem, failed.result.id), run.trial(failed.case))
    return verdict.outcome if verdict else Outcome.PASSED


def same(problem: CodeProblem, case: Case, a: Answer, b: Answer) -> bool:
    """Whether two answers are one: the same outcome, or the same arrays within the tolerance."""
    first, second = bind(a, case.entry.returns), bind(b, case.entry.returns)
    if first.failure or second.failure:
        return _failure(first) == _failure(second)
    atol, rtol = _tolerance(problem, case)
    return first.arrays.keys() == second.arrays.keys() and all(
        _close(first.arrays[n], second.arrays[n], Question(case.name, n, atol, rtol))
        for n in first.arrays
    )


def _failure(results: Results) -> Outcome | None:
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
