"""One case as a submission answered it, and what every kind of check asks of it."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.domain.checks import CheckBase
from app.domain.outcome import Outcome
from app.domain.problem import CodeProblem
from app.domain.run import Finding
from app.grading.cases import Case
from app.grading.compare import Array, Mask, Question, Verdict, wrong_shape
from app.grading.results import Results, bind, finding_of
from app.sandbox.job import Answer

Key = tuple[str, ...]
"""Names one call of a run: its role, then what tells it from others of that role."""


def base_key(case: Case) -> Key:
    """The key of the one call per case that most checks share."""
    return ("base", case.name)


@dataclass(frozen=True)
class Trial:
    """A case, the answers to all calls of the run, and the expected results of the case."""

    problem: CodeProblem
    case: Case
    answers: Mapping[Key, Answer]
    expected: Mapping[str, Array]

    @property
    def answer(self) -> Answer:
        return self.answers[base_key(self.case)]

    def results(self, key: Key | None = None) -> Results:
        """The named results of the call ``key``, by default of the case's own call."""
        return bind(self.answers[key or base_key(self.case)], self.problem.returns)

    def visible(self, check: CheckBase) -> NDArray[np.bool_] | None:
        """The mask that ``check.by`` names, True = visible; None where the case has none."""
        mask = self.case.arguments.get(check.by) if check.by else None
        if mask is None or check.by is None:
            return None
        array = np.asarray(mask, dtype=np.bool_)
        hides = self.problem.parameters[check.by].true_means == "hidden"
        return ~array if hides else array


Compare = Callable[[Array, Array, Question], Verdict | None]


def first_wrong(check: CheckBase, trial: Trial, compare: Compare) -> Verdict | None:
    """Compares every result that ``check.of`` names; the first verdict, or None."""
    results = trial.results()
    failed = failure_verdict(results, trial)
    if failed:
        return failed
    parts = list(named_parts(check, trial.problem.returns))
    for name, _ in parts:
        if name not in results.arrays:
            return missing(name, results, trial)
    for name, index in parts:
        student, expected = results.arrays[name], trial.expected[name]
        question = question_of(check, trial, name, expected)
        verdict = compare_part(student, expected, index, question, compare)
        if verdict:
            return verdict
    return None


def compare_part(
    student: Array, expected: Array, index: tuple[int, ...], question: Question, compare: Compare
) -> Verdict | None:
    """Compares one entry or row of two arrays; their whole shapes must agree first."""
    if not index:
        return compare(student, expected, question)
    return wrong_shape(student, expected, question) or compare(
        np.asarray(student[index]), np.asarray(expected[index]), question
    )


def failure_verdict(results: Results, trial: Trial) -> Verdict | None:
    """The verdict on a call that gave no values at all."""
    if results.failure is None:
        return None
    finding = finding_of(results.failure, trial.case.name, trial.problem.entry)
    return Verdict(results.failure.outcome, finding)


def missing(name: str, results: Results, trial: Trial) -> Verdict:
    """The verdict where the function returned something, but not ``name``."""
    facts: dict[str, object] = {
        "case": trial.case.name,
        "name": name,
        "names": list(trial.problem.returns),
        "count": results.count,
    }
    return Verdict(Outcome.WRONG_TYPE, Finding(key="missing_result", facts=facts))  # type: ignore[arg-type]


def named_parts(
    check: CheckBase, names: Mapping[str, object]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The names that ``check.of`` states, each with an index: "A[0, 1]" is ("A", (0, 1))."""
    for part in check.of or names:
        name, _, index = part.partition("[")
        yield name, tuple(int(number) for number in re.findall(r"-?\d+", index))


def question_of(check: CheckBase, trial: Trial, name: str, expected: Array) -> Question:
    """What ``check`` asks of the result ``name``."""
    rows = _rows(check, trial, expected)
    label = trial.case.name
    return Question(label, name, check.atol, check.rtol, rows)


def _rows(check: CheckBase, trial: Trial, expected: Array) -> Mask | None:
    visible = trial.visible(check)
    if check.rows is None or visible is None:
        return None
    return np.broadcast_to(visible.any(axis=-1), expected.shape[:-1])
