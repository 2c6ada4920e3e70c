"""Whether both references compute the same on the cases of a problem."""

from collections.abc import Iterator

import numpy as np

from app.domain.problem import CodeProblem, is_reference, solution_of
from app.grading.compare import Array, Question, close
from app.grading.expected import second_opinion
from app.grading.grade import Drawn
from app.grading.proof import Flaw

REFERENCE_ATOL = 1e-10
"""Of the largest entry: two ways to compute the same differ by less in float64."""


def second_opinion_flaws(problem: CodeProblem, drawn: Drawn) -> Iterator[Flaw]:
    """The first case that the reference written apart, where it has the function, differs in."""
    for case in drawn.cases:
        if not is_reference(solution_of(problem, case.call)):
            continue
        theirs = second_opinion(problem, case)
        ours = drawn.expected[case.name]
        for name, array in (theirs or {}).items():
            if not _agree(ours[name], array):
                at = ("cases", case.case_set)
                yield Flaw(at, f"case {case.name}: the two references differ in {name}")
                return


def _agree(one: Array, other: Array) -> bool:
    largest = float(np.abs(one[np.isfinite(one)]).max(initial=1.0)) if one.size else 1.0
    question = Question("", "", atol=REFERENCE_ATOL * largest)
    return one.shape == other.shape and bool(close(one, other, question).all())
