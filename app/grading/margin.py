"""How far a result is from the edge of a tolerance: 1 is the edge, 0 is exact.

A right variant close to the edge will fail one day; a wrong answer just beyond it can pass.
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from app.domain.answers import Field, MatrixField, NumberField, Value
from app.domain.checks import Check, GradientCheck, ValuesCheck
from app.domain.problem import FieldProblem
from app.grading.code import Run, cases_of
from app.grading.compare import Array, Question
from app.grading.trial import Trial, asked, named_parts

Margins = Mapping[str, float]
"""By check: the largest difference, measured in the check's tolerance."""

CLOSE = 3.0
"""Within this factor of the tolerance, on either side, is too close."""


def margins_of_run(run: Run) -> Margins:
    """For each check of numbers that has a tolerance and can be compared entry by entry."""
    found: dict[str, float] = {}
    for check in _tolerant(run.problem.checks):
        trials = [run.trial(case) for case in cases_of(check, run.cases)]
        ratios = [ratio for trial in trials for ratio in _ratios(check, trial)]
        if ratios and not any(map(np.isnan, ratios)):
            found[check.id] = max(ratios)
    return found


def margins_of_sheet(
    problem: FieldProblem, given: Mapping[str, Value], expected: Mapping[str, Value]
) -> Margins:
    """The same for filled-in numbers and matrices."""
    found: dict[str, float] = {}
    for check in _tolerant(problem.checks):
        ratios = [
            _ratio(check, _array(given[name]), _array(expected[name]), _part(name, part))
            for name, part in named_parts(check, problem.fields)
            if name in given and _is_numeric(problem.fields[name])
        ]
        if ratios and not any(map(np.isnan, ratios)):
            found[check.id] = max(ratios)
    return found


def _tolerant(checks: Iterable[Check]) -> Iterator[ValuesCheck | GradientCheck]:
    for check in checks:
        if isinstance(check, ValuesCheck | GradientCheck) and (check.atol or check.rtol):
            yield check


def _is_numeric(field: Field) -> bool:
    return isinstance(field, MatrixField | NumberField)


def _array(value: Value) -> Array:
    return np.asarray(value, dtype=np.float64)


def _part(name: str, part: tuple[int, ...]) -> Question:
    return Question("", name, 0.0, part=part)


def _ratios(check: ValuesCheck | GradientCheck, trial: Trial) -> Iterator[float]:
    results = trial.results()
    for name, part in named_parts(check, trial.returns):
        if name in results.arrays:
            question = asked(check, trial, name, part)
            yield _ratio(check, results.arrays[name], trial.expected[name], question)
        else:
            yield np.nan


def _ratio(
    check: ValuesCheck | GradientCheck, student: Array, expected: Array, question: Question
) -> float:
    """NaN where the two cannot be compared entry by entry."""
    if student.shape != expected.shape or student.dtype.kind not in "biuf":
        return np.nan
    counted = question.counted(expected.shape) & np.isfinite(expected)
    size = np.abs(expected, where=counted, out=np.zeros(expected.shape))
    if isinstance(check, GradientCheck):
        size = np.full_like(size, size.max(initial=0.0))
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(student.astype(np.float64) - expected.astype(np.float64))
    ratios = difference[counted] / (check.atol + check.rtol * size[counted])
    return float(ratios.max(initial=0.0))
