"""Code problems: the calls of a run, and what each check makes of the answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.domain.checks import Check, InputsUnchangedCheck, RepeatableCheck, StaticCheck
from app.domain.outcome import Outcome
from app.domain.problem import CodeProblem
from app.domain.run import CheckResult, Finding, Remark
from app.grading.calls import Calls, call, files_with_given
from app.grading.cases import GIVEN, Case
from app.grading.checks import further_calls, judge
from app.grading.checks.repeatable import reseeded_key
from app.grading.checks.static import StaticVerdicts
from app.grading.compare import Verdict, compare
from app.grading.credit import partial_points
from app.grading.expected import Expected, sandbox_limits
from app.grading.trial import Key, Trial, base_key, part_verdicts
from app.sandbox.job import Answer, Job, Limits
from app.sandbox.sandbox import Sandbox

Answers = Mapping[Key, Answer]

SHARED_ROLES = ("base", "again")
"""Roles of calls that share the run's first fork unless their check isolates."""

PRINTED_KB = 64
"""What is kept of the text that a whole run prints; one call may print as much."""


def cases_of(check: Check, cases: Sequence[Case]) -> list[Case]:
    """The cases that ``check`` is judged on, in its order of case sets."""
    return [case for name in check.cases for case in cases if case.case_set == name]


def planned_calls(problem: CodeProblem, cases: Sequence[Case]) -> Calls:
    """Every call that the checks need, each once: of a check its cases, then what it adds.

    The calls of checks whose printed text and errors a student sees come before all others: a
    function that remembers its inputs could otherwise tell hidden ones there.
    """
    shown = [check for check in problem.checks if not check.hidden]
    planned = _needed(shown, problem, cases) | _needed(problem.checks, problem, cases)
    return isolated(planned, problem, cases)


def _needed(checks: Sequence[Check], problem: CodeProblem, cases: Sequence[Case]) -> Calls:
    echoed = {
        case.name
        for check in problem.checks
        if isinstance(check, InputsUnchangedCheck)
        for case in cases_of(check, cases)
    }
    used = {case.name for check in checks for case in cases_of(check, cases)}
    needed = base_calls([case for case in cases if case.name in used], echo=echoed)
    for check in checks:
        for case in cases_of(check, cases):
            needed |= further_calls(check, case)
    return needed


def visible_keys_of(problem: CodeProblem, cases: Sequence[Case]) -> set[Key]:
    """The own calls of the cases that a check which is not hidden uses."""
    shown = [check for check in problem.checks if not check.hidden]
    return {base_key(case) for check in shown for case in cases_of(check, cases)}


def isolated(calls: Calls, problem: CodeProblem, cases: Sequence[Case]) -> Calls:
    """The same calls, those on a case of a check that isolates in a fork of that case's own."""
    alone = {
        case.name for check in problem.checks if check.isolate for case in cases_of(check, cases)
    }
    return {
        key: replace(planned, fork=f"case {key[1]}")
        if key[0] in SHARED_ROLES and key[1] in alone
        else planned
        for key, planned in calls.items()
    }


def base_calls(
    cases: Sequence[Case],
    *,
    echo: set[str] | frozenset[str] = frozenset(),
    file: str | None = None,
) -> Calls:
    """The case's own call, for each case; those in ``echo`` also send their arguments back."""
    return {base_key(case): call(case, file=file, echo=case.name in echo) for case in cases}


def run_calls(
    sandbox: Sandbox,
    problem: CodeProblem,
    files: Mapping[str, bytes],
    calls: Calls,
    seed: int,
    limits: Limits | None = None,
) -> Answers:
    """One pass through the sandbox; every key gets its answer."""
    limits = limits or sandbox_limits(problem)
    given = GIVEN if problem.given else ""
    files = files_with_given(problem, files)
    job = Job(files=files, calls=tuple(calls.values()), seed=seed, limits=limits, given=given)
    return dict(zip(calls, sandbox.run(job), strict=True))


def reseeded_answers(
    sandbox: Sandbox,
    problem: CodeProblem,
    files: Mapping[str, bytes],
    cases: Sequence[Case],
    seed: int,
) -> Answers:
    """The cases of checks that ask for it, called once more under other seeds; again those first
    of which a student sees the errors."""
    asked = {
        case.name: case
        for check in sorted(problem.checks, key=lambda check: check.hidden)
        if isinstance(check, RepeatableCheck) and check.across == "seeds"
        for case in cases_of(check, cases)
    }
    calls = {reseeded_key(case): call(case) for case in asked.values()}
    return run_calls(sandbox, problem, files, calls, seed + 1) if calls else {}


@dataclass(frozen=True)
class Run:
    """A submission's answers to all calls of a run, beside the expected results."""

    problem: CodeProblem
    cases: Sequence[Case]
    answers: Answers
    expected: Expected
    static: StaticVerdicts = field(default_factory=dict)
    sandbox_s: float = 0.0

    def trial(self, case: Case) -> Trial:
        return Trial(case, self.answers, self.expected[case.name])


def judge_checks(run: Run) -> tuple[CheckResult, ...]:
    """Every check of the problem, in order. The first failing case decides a check."""
    results: dict[str, CheckResult] = {}
    for check in run.problem.checks:
        passed = all(results[name].outcome == Outcome.PASSED for name in check.requires)
        results[check.id] = judge_check(check, run) if passed else _not_run(check, results)
    return tuple(results.values())


def judge_check(check: Check, run: Run) -> CheckResult:
    """One check over all of its cases, or over the text of the code."""
    if isinstance(check, StaticCheck):
        found = run.static[check.id]
        return failed(check, found) if found else _passed(check)
    for case in cases_of(check, run.cases):
        verdict = judge(check, run.trial(case))
        if verdict:
            return failed(check, verdict, _partial(check, run))
    return _passed(check)


def _passed(check: Check) -> CheckResult:
    return CheckResult(id=check.id, outcome=Outcome.PASSED, points=check.points)


def _partial(check: Check, run: Run) -> float:
    trials = [run.trial(case) for case in cases_of(check, run.cases)]
    return partial_points(check, (p for t in trials for p in part_verdicts(check, t, compare)))


def failed(check: Check, verdict: Verdict, points: float = 0.0) -> CheckResult:
    """The result of a check that a case failed."""
    return CheckResult(
        id=check.id,
        outcome=verdict.outcome,
        points=points,
        finding=verdict.finding,
        evidence=verdict.evidence,
    )


def _not_run(check: Check, results: Mapping[str, CheckResult]) -> CheckResult:
    missed = [name for name in check.requires if results[name].outcome != Outcome.PASSED]
    finding = Finding(key="not_run", facts={"names": list(missed)})
    return CheckResult(id=check.id, outcome=Outcome.NOT_RUN, points=0.0, finding=finding)


def remarks(run: Run) -> tuple[Remark, ...]:
    """What was noticed when the files were loaded, each once: they are loaded more than once."""
    return tuple(dict.fromkeys(r for answer in run.answers.values() for r in answer.remarks))


def printed(run: Run) -> tuple[str, str]:
    """What the visible cases printed, and what the hidden ones did.

    A case is visible if a check that is not hidden uses it.
    """
    visible = visible_keys_of(run.problem, run.cases)
    texts: dict[bool, list[str]] = {True: [], False: []}
    for key, answer in run.answers.items():
        texts[key in visible].append(answer.stdout)
    return _cut("".join(texts[True])), _cut("".join(texts[False]))


def _cut(text: str) -> str:
    data = text.encode()
    if len(data) <= PRINTED_KB * 1000:
        return text
    kept = data[: PRINTED_KB * 1000].decode(errors="ignore")
    return f"{kept}\n[output cut at {PRINTED_KB} kB]\n"
