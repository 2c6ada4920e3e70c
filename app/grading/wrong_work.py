"""Whether each wrong answer that a problem knows is caught, and recognised as itself."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.domain.outcome import VALUE_OUTCOMES, Outcome
from app.domain.problem import Misconception, Problem
from app.domain.run import CheckResult, RunResult
from app.errors import UnreadableSubmission
from app.grading.grade import Drawn
from app.grading.known_work import close_tolerance, graded_with_margins, submission_of, told
from app.grading.margin import CLOSE
from app.grading.proof import Caught, Flaw, Location
from app.sandbox.sandbox import Sandbox

SEED = 1
"""Of the cases on which every wrong answer is graded."""


@dataclass(frozen=True)
class Wrong:
    """A misconception with what grading made of it; ``unread`` says why it could not be graded."""

    known: Misconception
    at: Location
    run: RunResult | None = None
    unread: str = ""

    @property
    def named(self) -> bool:
        results = self.run.checks if self.run else ()
        return any(result.misconception == self.known.id for result in results)


def graded_wrong(
    problem: Problem, sandbox: Sandbox, drawn: Drawn | None, warnings: list[Flaw]
) -> Iterator[Wrong]:
    """Grades every misconception; adds to ``warnings`` where a tolerance is near to one."""
    for n, wrong in enumerate(problem.misconceptions):
        at: Location = ("misconceptions", n)
        if wrong.text is not None:
            continue  # a sample for those who mark
        try:
            submission = submission_of(problem, wrong.code, wrong.answers)
            run, margins = graded_with_margins(problem, submission, sandbox, SEED, drawn)
        except UnreadableSubmission as error:
            yield Wrong(wrong, (*at, "answers"), unread=str(error))
            continue
        outcome = next((r.outcome for r in run.checks if r.id == wrong.caught_by), None)
        margin = margins.get(wrong.caught_by, CLOSE)
        if outcome == Outcome.WRONG and margin < CLOSE:
            warnings.extend(
                close_tolerance(problem, wrong.caught_by, f"wrong answer `{wrong.id}`", margin)
            )
        yield Wrong(wrong, at, run)


def judged_wrong(graded: Wrong, all_wrong: Sequence[Wrong]) -> tuple[Caught, list[Flaw]]:
    """The row of the kill matrix, and why it is not as the problem file says."""
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
            yield f"`{name}` is right in the check `{result.id}` but fails it: {told(result)}"
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
