"""Proof that a problem accepts right work and refuses every wrong answer it knows.

A problem passes if its solution gets full marks, its starter 0, every accepted variant full marks
outside the checks it is excused from, and every misconception is caught by the check that it
names, with a value outcome, and diagnosed as itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from app.domain.answers import parse_answers
from app.domain.checks import Check
from app.domain.outcome import VALUE_OUTCOMES, Outcome
from app.domain.problem import (
    Accepted,
    CodeProblem,
    FieldProblem,
    Misconception,
    Problem,
    check_of,
    is_reference,
    solution_of,
)
from app.domain.run import CheckResult, RunResult
from app.domain.submission import Submission
from app.errors import UnreadableSubmission
from app.grading.cases import draw_cases
from app.grading.compare import Array, Question, close
from app.grading.expected import expected_answers, expected_results, second_opinion
from app.grading.grade import answered, grade, judged
from app.grading.margin import CLOSE, Margins, margins_of_run, margins_of_sheet
from app.sandbox.sandbox import Sandbox

REFERENCE_ATOL = 1e-10
"""Of the largest entry: two ways to compute the same differ by less in float64."""

SEEDS = 5
THOROUGH_SEEDS = 20

Location = tuple[str | int, ...]


@dataclass(frozen=True)
class Flaw:
    """Why a problem is not proven, at a location of its file."""

    location: Location
    message: str


@dataclass(frozen=True)
class Caught:
    """What became of one misconception: the checks that refused it, and whether it was named."""

    caught_by: str
    caught: tuple[str, ...]
    named: bool
    ok: bool


@dataclass(frozen=True)
class Proof:
    """The outcome of a proof: its flaws, and the kill matrix."""

    problem: Problem
    flaws: tuple[Flaw, ...] = ()
    accepted: Mapping[str, bool] = field(default_factory=dict)
    misconceptions: Mapping[str, Caught] = field(default_factory=dict)
    warnings: tuple[Flaw, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.flaws

    @property
    def samples(self) -> int:
        """The wrong texts that stand there for those who mark."""
        return sum(known.text is not None for known in self.problem.misconceptions)


def prove(problem: Problem, sandbox: Sandbox, seeds: int = SEEDS) -> Proof:
    """Grades everything the problem file knows to be right or wrong.

    Raises AttestError where the reference fails or the sandbox is lost.
    """
    flaws = [
        *_solution(problem, sandbox),
        *_starter(problem, sandbox),
        *_second_opinions(problem, sandbox, seeds),
    ]
    warnings: list[Flaw] = []
    accepted = {}
    for n, variant in enumerate(problem.accepted):
        found = list(_accepted(problem, variant, n, sandbox, seeds, warnings))
        accepted[variant.id] = not found
        flaws.extend(found)
    wrong = list(_graded_wrong(problem, sandbox, warnings))
    rows = {}
    for graded in wrong:
        row, found = _judged(graded, wrong)
        rows[graded.known.id] = row
        flaws.extend(found)
    return Proof(problem, tuple(flaws), accepted, rows, tuple(warnings))


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


def _solution(problem: Problem, sandbox: Sandbox) -> Iterator[Flaw]:
    if isinstance(problem, CodeProblem) and (
        not problem.solution or is_reference(problem.solution)
    ):
        return  # it is what expected results are made of; comparing it with itself proves nothing
    code = problem.solution if isinstance(problem, CodeProblem) else None
    assert code is None or isinstance(code, str)
    run = grade(problem, submission_of(problem, code, None), sandbox, seed=1)
    for result in _decided(problem, run):
        if result.outcome != Outcome.PASSED:
            yield Flaw(("solution",), f"the solution fails the check {_told(result)}")


def _decided(problem: Problem, run: RunResult) -> list[CheckResult]:
    """The results that a machine decides: those of checks, not of a rubric."""
    ids = {check.id for check in problem.checks}
    return [result for result in run.checks if result.id in ids]


def _starter(problem: Problem, sandbox: Sandbox) -> Iterator[Flaw]:
    if isinstance(problem, CodeProblem):
        run = grade(problem, submission_of(problem, problem.starter, None), sandbox, seed=1)
        if run.score:
            yield Flaw(("starter",), f"the starter earns {run.score:g} points; expected 0")


def _second_opinions(problem: Problem, sandbox: Sandbox, seeds: int) -> Iterator[Flaw]:
    """Every case by the reference that was written apart, where it has the function."""
    if not isinstance(problem, CodeProblem):
        return
    for seed in range(1, seeds + 1):
        for case in draw_cases(problem, seed):
            if not is_reference(solution_of(problem, case.call)):
                continue
            theirs = second_opinion(problem, case)
            ours = expected_results(problem, [case], sandbox, seed)[case.name]
            for name, array in (theirs or {}).items():
                if not _agree(ours[name], array):
                    at = ("cases", case.case_set)
                    yield Flaw(at, f"case {case.name}: the two references differ in {name}")
                    return


def _agree(one: Array, other: Array) -> bool:
    largest = float(np.abs(one[np.isfinite(one)]).max(initial=1.0)) if one.size else 1.0
    question = Question("", "", atol=REFERENCE_ATOL * largest)
    return one.shape == other.shape and bool(close(one, other, question).all())


def _accepted(
    problem: Problem,
    variant: Accepted,
    n: int,
    sandbox: Sandbox,
    seeds: int,
    warnings: list[Flaw],
) -> Iterator[Flaw]:
    submission = submission_of(problem, variant.code, variant.answers)
    for seed in range(1, seeds + 1 if isinstance(problem, CodeProblem) else 2):
        run, margins = _graded(problem, submission, sandbox, seed)
        wrong = [r for r in _decided(problem, run) if _refused(problem, variant, r)]
        if wrong:
            told = "; ".join(map(_told, wrong))
            yield Flaw(("accepted", n), f"`{variant.id}` is right but fails {told} (seed {seed})")
            return
        if seed == 1:
            passed = {r.id: margins.get(r.id, 0.0) for r in run.checks if _full(problem, r)}
            for check, margin in passed.items():
                if margin > 1 / CLOSE:
                    warnings.extend(_close(problem, check, f"right answer `{variant.id}`", margin))


def _full(problem: Problem, result: CheckResult) -> bool:
    return result.outcome == Outcome.PASSED and any(c.id == result.id for c in problem.checks)


def _close(problem: Problem, check_id: str, what: str, margin: float) -> Iterator[Flaw]:
    """A warning that a tolerance is too near to an answer, unless a note says why that is so."""
    numbers = {check.id: number for number, check in enumerate(problem.checks)}
    if not check_of(problem, check_id).tolerance_note:
        yield Flaw(
            ("checks", numbers[check_id]),
            f"the tolerance of `{check_id}` is close to the {what}, which is off by "
            f"{margin:.2g} times it; say why in `tolerance_note`, or change it",
        )


def _graded(
    problem: Problem, submission: Submission, sandbox: Sandbox, seed: int
) -> tuple[RunResult, Margins]:
    """One grading, and how near each check's numbers are to its tolerance."""
    if isinstance(problem, CodeProblem):
        run = answered(problem, submission, sandbox, seed)
        return judged(run, submission, sandbox, seed), margins_of_run(run)
    result = grade(problem, submission, sandbox, seed)
    given = parse_answers(problem.fields, submission.answers)
    return result, margins_of_sheet(problem, given, expected_answers(problem))


def _refused(problem: Problem, variant: Accepted, result: CheckResult) -> bool:
    if result.id in variant.excused:
        return False
    wanted = variant.points.get(result.id, check_of(problem, result.id).points)
    return result.points != wanted


@dataclass(frozen=True)
class _Wrong:
    """A misconception with what grading made of it; ``unread`` says why it could not be graded."""

    known: Misconception
    at: Location
    run: RunResult | None = None
    unread: str = ""

    @property
    def named(self) -> bool:
        results = self.run.checks if self.run else ()
        return any(result.misconception == self.known.id for result in results)


def _graded_wrong(problem: Problem, sandbox: Sandbox, warnings: list[Flaw]) -> Iterator[_Wrong]:
    for n, known in enumerate(problem.misconceptions):
        at: Location = ("misconceptions", n)
        if known.text is not None:
            continue  # a sample for those who mark
        try:
            submission = submission_of(problem, known.code, known.answers)
            run, margins = _graded(problem, submission, sandbox, seed=1)
        except UnreadableSubmission as error:
            yield _Wrong(known, (*at, "answers"), unread=str(error))
            continue
        outcome = next((r.outcome for r in run.checks if r.id == known.caught_by), None)
        margin = margins.get(known.caught_by, CLOSE)
        if outcome == Outcome.WRONG and margin < CLOSE:
            warnings.extend(_close(problem, known.caught_by, f"wrong answer `{known.id}`", margin))
        yield _Wrong(known, at, run)


def _judged(graded: _Wrong, all_wrong: Sequence[_Wrong]) -> tuple[Caught, list[Flaw]]:
    known, run = graded.known, graded.run
    if run is None:
        flaw = Flaw(graded.at, graded.unread)
        return Caught(known.caught_by, (), False, False), [flaw]
    caught = tuple(r.id for r in run.checks if _catches(known, r))
    twins = [
        other.known.id
        for other in all_wrong
        if not graded.named and other is not graded and other.run and _same(other.run, run)
    ]
    flaws = [Flaw(graded.at, text) for text in _survivals(known, run, caught, graded.named, twins)]
    return Caught(known.caught_by, caught, graded.named, not flaws), flaws


def _same(one: RunResult, other: RunResult) -> bool:
    """Whether every check ended in the same way for both."""
    pairs = zip(one.checks, other.checks, strict=True)
    return all((a.outcome, a.finding) == (b.outcome, b.finding) for a, b in pairs)


def _catches(misconception: Misconception, result: CheckResult) -> bool:
    if misconception.outcome:
        return result.outcome == misconception.outcome
    return result.outcome in VALUE_OUTCOMES


def _survivals(
    misconception: Misconception,
    run: RunResult,
    caught: Sequence[str],
    named: bool,
    twins: Sequence[str],
) -> Iterator[str]:
    name = misconception.id
    if misconception.caught_by not in caught:
        result = next(r for r in run.checks if r.id == misconception.caught_by)
        yield (
            f"the wrong answer `{name}` is not caught by the check "
            f"`{misconception.caught_by}`: its outcome there is {result.outcome}"
        )
    for result in run.checks:
        if result.id in misconception.passes and result.outcome != Outcome.PASSED:
            yield f"`{name}` is right in the check `{result.id}` but fails it: {_told(result)}"
    if misconception.max_points is not None and run.score > misconception.max_points:
        yield (
            f"the wrong answer `{name}` earns {run.score:g} points; "
            f"expected at most {misconception.max_points:g}"
        )
    if not named:
        others = {r.misconception for r in run.checks if r.misconception}
        instead = f"`{', '.join(sorted(others))}` is named instead" if others else "none is named"
        apart = f"; no input tells it from `{'`, `'.join(twins)}`" if twins else ""
        yield f"the wrong answer `{name}` is not recognised as itself: {instead}{apart}"


def _told(result: CheckResult) -> str:
    facts = dict(result.finding.facts) if result.finding else {}
    where = f" in case {facts['case']}" if facts.get("case") else ""
    detail = f" ({facts['detail']})" if facts.get("detail") else ""
    return f"`{result.id}`: {result.outcome}{where}{detail}"


def unreached(problem: Problem, proof: Proof) -> list[Check]:
    """The checks that no misconception reaches: nothing shows that they can fail."""
    reached = {check for row in proof.misconceptions.values() for check in row.caught}
    return [check for check in problem.checks if check.id not in reached]
