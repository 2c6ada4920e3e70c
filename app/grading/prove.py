"""Proof that a problem accepts right work and refuses every wrong answer it knows.

A problem passes if its solution gets full marks, its starter 0, every accepted variant full marks
outside the checks it is excused from, and every misconception is caught by the check that it
names, with a value outcome, and diagnosed as itself. No text of it may be left to be written.
"""

from collections.abc import Iterator, Mapping
from itertools import starmap

from app.catalogue.rules import unwritten
from app.domain.outcome import Outcome
from app.domain.problem import Accepted, CodeProblem, Problem, check_of, is_reference
from app.domain.run import CheckResult
from app.grading.cases import draw_cases
from app.grading.expected import expected_results
from app.grading.grade import Drawn
from app.grading.known_work import (
    close_tolerance,
    decided,
    graded_with_margins,
    submission_of,
    told,
)
from app.grading.margin import CLOSE
from app.grading.proof import Flaw, Proof, unreached
from app.grading.stated_results import stated_result_flaws
from app.grading.two_references import second_opinion_flaws
from app.grading.wrong_work import SEED, graded_wrong, judged_wrong
from app.sandbox.remembering import RememberingSandbox
from app.sandbox.sandbox import Sandbox

SEEDS = 5
THOROUGH_SEEDS = 20


def prove(problem: Problem, sandbox: Sandbox, seeds: int = SEEDS) -> Proof:
    """Grades everything the problem file knows to be right or wrong.

    Raises AttestError where the reference fails or the sandbox is lost.
    """
    sandbox = RememberingSandbox(sandbox)
    drawn = dict(_drawn(problem, sandbox, seeds))
    flaws = [
        *starmap(Flaw, unwritten(problem)),
        *_solution(problem, sandbox, drawn.get(SEED)),
        *_starter(problem, sandbox, drawn.get(SEED)),
        *_two_references(problem, drawn),
        *_stated_results(problem, drawn),
    ]
    warnings: list[Flaw] = []
    accepted = {}
    for n, variant in enumerate(problem.accepted):
        found = list(_accepted(problem, variant, n, sandbox, drawn, warnings))
        accepted[variant.id] = not found
        flaws.extend(found)
    wrong = list(graded_wrong(problem, sandbox, drawn.get(SEED), warnings))
    rows = {}
    for graded in wrong:
        row, found = judged_wrong(graded, wrong)
        rows[graded.known.id] = row
        flaws.extend(found)
    warnings.extend(unreached(problem, rows))
    return Proof(problem, tuple(flaws), accepted, rows, tuple(warnings))


def _drawn(problem: Problem, sandbox: Sandbox, seeds: int) -> Iterator[tuple[int, Drawn]]:
    """By seed; nothing for a problem without code."""
    if isinstance(problem, CodeProblem):
        for seed in range(SEED, SEED + seeds):
            cases = draw_cases(problem, seed)
            yield seed, Drawn(cases, expected_results(problem, cases, sandbox, seed))


def _two_references(problem: Problem, drawn: Mapping[int, Drawn]) -> list[Flaw]:
    """The differences on the first seed that shows any."""
    if not isinstance(problem, CodeProblem):
        return []
    found = (list(second_opinion_flaws(problem, each)) for each in drawn.values())
    return next(filter(None, found), [])


def _stated_results(problem: Problem, drawn: Mapping[int, Drawn]) -> Iterator[Flaw]:
    if isinstance(problem, CodeProblem):
        yield from stated_result_flaws(problem, drawn[SEED])


def _solution(problem: Problem, sandbox: Sandbox, drawn: Drawn | None) -> Iterator[Flaw]:
    if isinstance(problem, CodeProblem) and (
        not problem.solution or is_reference(problem.solution)
    ):
        return  # it is what expected results are made of; comparing it with itself proves nothing
    code = problem.solution if isinstance(problem, CodeProblem) else None
    assert code is None or isinstance(code, str)
    submission = submission_of(problem, code, None)
    run, _ = graded_with_margins(problem, submission, sandbox, SEED, drawn)
    for result in decided(problem, run):
        if result.outcome != Outcome.PASSED:
            yield Flaw(("solution",), f"the solution fails the check {told(result)}")


def _starter(problem: Problem, sandbox: Sandbox, drawn: Drawn | None) -> Iterator[Flaw]:
    if isinstance(problem, CodeProblem):
        submission = submission_of(problem, problem.starter, None)
        run, _ = graded_with_margins(problem, submission, sandbox, SEED, drawn)
        if run.score:
            yield Flaw(("starter",), f"the starter earns {run.score:g} points; expected 0")


def _accepted(
    problem: Problem,
    variant: Accepted,
    n: int,
    sandbox: Sandbox,
    drawn: Mapping[int, Drawn],
    warnings: list[Flaw],
) -> Iterator[Flaw]:
    submission = submission_of(problem, variant.code, variant.answers)
    for seed in drawn or [SEED]:
        run, margins = graded_with_margins(problem, submission, sandbox, seed, drawn.get(seed))
        wrong = [r for r in decided(problem, run) if _refused(problem, variant, r)]
        if wrong:
            found = "; ".join(map(told, wrong))
            yield Flaw(("accepted", n), f"`{variant.id}` is right but fails {found} (seed {seed})")
            return
        if seed == SEED:
            passed = {r.id: margins.get(r.id, 0.0) for r in run.checks if _full(problem, r)}
            for check, margin in passed.items():
                if margin > 1 / CLOSE:
                    warnings.extend(
                        close_tolerance(problem, check, f"right answer `{variant.id}`", margin)
                    )


def _full(problem: Problem, result: CheckResult) -> bool:
    return result.outcome == Outcome.PASSED and any(c.id == result.id for c in problem.checks)


def _refused(problem: Problem, variant: Accepted, result: CheckResult) -> bool:
    if result.id in variant.excused:
        return False
    wanted = variant.points.get(result.id, check_of(problem, result.id).points)
    return result.points != wanted
