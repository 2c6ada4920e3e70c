"""Grades one submission of one problem."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from app.domain.outcome import Outcome
from app.domain.problem import (
    CodeProblem,
    FieldProblem,
    Problem,
    TextProblem,
    needs_sandbox,
    questions_of,
)
from app.domain.run import CheckResult, Finding, Json, RunResult
from app.domain.submission import Submission
from app.grading.answers import judge_answers
from app.grading.cases import Case, draw_cases
from app.grading.checks.static import static_verdicts
from app.grading.code import (
    Run,
    judge_checks,
    planned_calls,
    printed,
    remarks,
    reseeded_answers,
    run_calls,
)
from app.grading.diagnose import diagnose
from app.grading.expected import Expected, expected_results
from app.sandbox.modules import is_called
from app.sandbox.sandbox import Sandbox

NAMED = 5
"""Names of files that one sentence tells."""


@dataclass(frozen=True)
class Drawn:
    """The cases of one seed, with what is expected of them."""

    cases: Sequence[Case]
    expected: Expected


def grade(problem: Problem, submission: Submission, sandbox: Sandbox, seed: int) -> RunResult:
    """Inputs, sandbox, expected results, comparison, diagnosis, score: the whole of a run.

    The same ``seed`` gives the same inputs and, for code that repeats itself, the same score.
    Raises AttestError for what is our fault: a solution that fails, a lost sandbox.
    """
    if isinstance(problem, CodeProblem) and not nothing_to_judge(problem, submission):
        return grade_code(problem, submission, sandbox, seed)
    return grade_without_code(problem, submission, seed, sandbox)


def grade_without_code(
    problem: Problem, submission: Submission, seed: int, sandbox: Sandbox | None = None
) -> RunResult:
    """Grades a filled-in sheet, or files with nothing to judge: no student's code is run.

    The sandbox may only be missing where ``needs_sandbox`` says that nothing else is run either.
    """
    began = time.monotonic()
    notes: tuple[str, ...] = ()
    if nothing := nothing_to_judge(problem, submission):
        checks = tuple(replace(nothing, id=check.id) for check in questions_of(problem))
    else:
        assert not isinstance(problem, CodeProblem)
        checks, notes = judge_answers(problem, submission.answers, seed, sandbox)
        checks = (*rubric_results(problem, submission), *checks)
    waits = any(check.outcome == Outcome.PENDING for check in checks)
    return RunResult(
        status="needs_review" if waits else "graded",
        score=total(checks),
        checks=checks,
        seed=seed,
        sandbox_level=sandbox.level if sandbox and needs_sandbox(problem) else "",
        notes=notes,
        total_s=time.monotonic() - began,
    )


def grade_code(
    problem: CodeProblem, submission: Submission, sandbox: Sandbox, seed: int
) -> RunResult:
    """Runs the student's code and judges what came out."""
    return judged(answered(problem, submission, sandbox, seed), submission, sandbox, seed)


def answered(
    problem: CodeProblem,
    submission: Submission,
    sandbox: Sandbox,
    seed: int,
    drawn: Drawn | None = None,
) -> Run:
    """All that the student's code answers, and only then what is expected.

    ``drawn`` is what a proof, which grades many on the same cases, has drawn and computed before.
    """
    began = time.monotonic()
    cases = drawn.cases if drawn else draw_cases(problem, seed)
    calls = planned_calls(problem, cases)
    files = submission.files
    answers = run_calls(sandbox, problem, files, calls, seed)
    answers = {**answers, **reseeded_answers(sandbox, problem, files, cases, seed)}
    static = static_verdicts(problem, files, sandbox, seed)
    sandbox_s = time.monotonic() - began
    expected = drawn.expected if drawn else expected_results(problem, cases, sandbox, seed)
    return Run(problem, cases, answers, expected, static, sandbox_s)


def judged(run: Run, submission: Submission, sandbox: Sandbox, seed: int) -> RunResult:
    """The score of a run, with its causes."""
    began = time.monotonic()
    checks = diagnose(run, judge_checks(run), submission.files, sandbox, seed)
    visible, hidden = printed(run)
    return RunResult(
        status="graded",
        score=total(checks),
        checks=checks,
        seed=seed,
        sandbox_level=sandbox.level,
        remarks=remarks(run),
        printed=visible,
        printed_hidden=hidden,
        sandbox_s=run.sandbox_s,
        total_s=run.sandbox_s + time.monotonic() - began,
    )


def rubric_results(problem: FieldProblem, submission: Submission) -> Iterator[CheckResult]:
    """The lines that a person decides; where there is no text, there is nothing to decide."""
    if not isinstance(problem, TextProblem):
        return
    written = bool(submission.text.strip())
    outcome = Outcome.PENDING if written else Outcome.NOT_DEFINED
    finding = None if written else Finding(key="no_text")
    for line in problem.rubric:
        yield CheckResult(id=line.id, outcome=outcome, points=0.0, finding=finding)


def nothing_to_judge(problem: Problem, submission: Submission) -> CheckResult | None:
    """What becomes of every check where the files hold nothing, or none has the name that the
    problem asks for; the check's id is left empty."""
    if submission.is_empty:
        name = ", ".join(submission.files)
        finding = Finding(key="empty", facts={"file": name})
        return CheckResult(id="", outcome=Outcome.LOAD_ERROR, points=0.0, finding=finding)
    asked = problem.file if isinstance(problem, CodeProblem) else ""
    if not asked or any(is_called(name, asked) for name in submission.files):
        return None
    sent = list(submission.files)
    names: list[Json] = [*sent[:NAMED], *(["…"] if len(sent) > NAMED else [])]
    finding = Finding(key="no_file", facts={"file": asked, "names": names})
    return CheckResult(id="", outcome=Outcome.NOT_DEFINED, points=0.0, finding=finding)


def total(checks: Sequence[CheckResult]) -> float:
    """The points of all checks that are decided, without the dust of adding floats."""
    points = (check.points for check in checks if check.outcome != Outcome.PENDING)
    return round(math.fsum(points), 9)
