"""Proof that a problem accepts right work and refuses every wrong answer it knows.

A problem passes if its solution gets full marks, its starter 0, every accepted variant full marks
outside the checks it is excused from, and every misconception is caught by the check that it
names, with a value outcome, and diagnosed as itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

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
)
from app.domain.run import CheckResult, RunResult
from app.domain.submission import Submission
from app.errors import UnreadableSubmission
from app.grading.expected import expected_answers
from app.grading.grade import grade
from app.sandbox.sandbox import Sandbox

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
    flaws = [*_solution(problem, sandbox), *_starter(problem, sandbox)]
    accepted = {}
    for n, variant in enumerate(problem.accepted):
        found = list(_accepted(problem, variant, n, sandbox, seeds))
        accepted[variant.id] = not found
        flaws.extend(found)
    caught = {}
    for n, misconception in enumerate(problem.misconceptions):
        if misconception.text is not None:
            continue  # a sample for those who mark
        row, found = _misconception(problem, misconception, n, sandbox)
        caught[misconception.id] = row
        flaws.extend(found)
    return Proof(problem, tuple(flaws), accepted, caught)


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


def _accepted(
    problem: Problem, variant: Accepted, n: int, sandbox: Sandbox, seeds: int
) -> Iterator[Flaw]:
    submission = submission_of(problem, variant.code, variant.answers)
    for seed in range(1, seeds + 1 if isinstance(problem, CodeProblem) else 2):
        run = grade(problem, submission, sandbox, seed)
        wrong = [r for r in _decided(problem, run) if _refused(problem, variant, r)]
        if wrong:
            told = "; ".join(map(_told, wrong))
            yield Flaw(("accepted", n), f"`{variant.id}` is right but fails {told} (seed {seed})")
            return


def _refused(problem: Problem, variant: Accepted, result: CheckResult) -> bool:
    if result.id in variant.excused:
        return False
    wanted = variant.points.get(result.id, check_of(problem, result.id).points)
    return result.points != wanted


def _misconception(
    problem: Problem, misconception: Misconception, n: int, sandbox: Sandbox
) -> tuple[Caught, list[Flaw]]:
    submission = submission_of(problem, misconception.code, misconception.answers)
    at = ("misconceptions", n)
    try:
        run = grade(problem, submission, sandbox, seed=1)
    except UnreadableSubmission as error:
        return Caught(misconception.caught_by, (), False, False), [
            Flaw((*at, "answers"), str(error))
        ]
    caught = tuple(r.id for r in run.checks if _catches(misconception, r))
    named = any(result.misconception == misconception.id for result in run.checks)
    flaws = [Flaw(at, text) for text in _survivals(misconception, run, caught, named)]
    return Caught(misconception.caught_by, caught, named, not flaws), flaws


def _catches(misconception: Misconception, result: CheckResult) -> bool:
    if misconception.outcome:
        return result.outcome == misconception.outcome
    return result.outcome in VALUE_OUTCOMES


def _survivals(
    misconception: Misconception, run: RunResult, caught: Sequence[str], named: bool
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
        yield f"the wrong answer `{name}` is not recognised as itself: {instead}"


def _told(result: CheckResult) -> str:
    facts = dict(result.finding.facts) if result.finding else {}
    where = f" in case {facts['case']}" if facts.get("case") else ""
    detail = f" ({facts['detail']})" if facts.get("detail") else ""
    return f"`{result.id}`: {result.outcome}{where}{detail}"


def unreached(problem: Problem, proof: Proof) -> list[Check]:
    """The checks that no misconception reaches: nothing shows that they can fail."""
    reached = {check for row in proof.misconceptions.values() for check in row.caught}
    return [check for check in problem.checks if check.id not in reached]
