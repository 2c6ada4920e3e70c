"""Right and wrong work that a problem file knows, as submissions, and their gradings."""

from collections.abc import Iterator, Mapping

from app.domain.answers import parse_answers
from app.domain.problem import CodeProblem, FieldProblem, Problem, check_of
from app.domain.run import CheckResult, RunResult
from app.domain.submission import Submission
from app.grading.expected import expected_answers
from app.grading.grade import Drawn, answered, grade, judged
from app.grading.margin import Margins, margins_of_run, margins_of_sheet
from app.grading.proof import Flaw
from app.sandbox.sandbox import Sandbox


def submission_of(
    problem: Problem, code: str | None, answers: Mapping[str, object] | None
) -> Submission:
    """A variant's code, or its answers with the fields left out as in the solution."""
    if isinstance(problem, CodeProblem):
        return Submission(files={problem.file or "submission.py": (code or "").encode()})
    return Submission(answers={**right_answers(problem), **(answers or {})})


def right_answers(problem: FieldProblem) -> dict[str, object]:
    """The solution of an answer problem as a student would write it."""
    if not isinstance(problem.solution, str):
        return dict(problem.solution)
    values = expected_answers(problem)
    return {
        name: [str(axis) for axis in value] if isinstance(value, tuple) else str(value)
        for name, value in values.items()
    }


def decided(problem: Problem, run: RunResult) -> list[CheckResult]:
    """The results that a machine decides: those of checks, not of a rubric."""
    ids = {check.id for check in problem.checks}
    return [result for result in run.checks if result.id in ids]


def graded_with_margins(
    problem: Problem,
    submission: Submission,
    sandbox: Sandbox,
    seed: int,
    drawn: Drawn | None,
) -> tuple[RunResult, Margins]:
    """One grading, and how near each check's numbers are to its tolerance."""
    if isinstance(problem, CodeProblem):
        run = answered(problem, submission, sandbox, seed, drawn)
        return judged(run, submission, sandbox, seed), margins_of_run(run)
    result = grade(problem, submission, sandbox, seed)
    given = parse_answers(problem.fields, submission.answers)
    return result, margins_of_sheet(problem, given, expected_answers(problem))


def close_tolerance(problem: Problem, check_id: str, what: str, margin: float) -> Iterator[Flaw]:
    """A warning that a tolerance is too near to an answer, unless a note says why that is so."""
    numbers = {check.id: number for number, check in enumerate(problem.checks)}
    if not check_of(problem, check_id).tolerance_note:
        yield Flaw(
            ("checks", numbers[check_id]),
            f"the tolerance of `{check_id}` is close to the {what}, which is off by "
            f"{margin:.2g} times it; say why in `tolerance_note`, or change it",
        )


def told(result: CheckResult) -> str:
    """A result for whoever writes problems: check, outcome, case and detail."""
    facts = dict(result.finding.facts) if result.finding else {}
    where = f" in case {facts['case']}" if facts.get("case") else ""
    detail = f" ({facts['detail']})" if facts.get("detail") else ""
    return f"`{result.id}`: {result.outcome}{where}{detail}"
