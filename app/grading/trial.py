"""One case as a submission answered it, and what every kind of check asks of it."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from app.domain.checks import CheckBase
from app.domain.outcome import Outcome
from app.domain.problem import Parameter
from app.domain.run import Finding, Json
from app.grading.cases import Case
from app.grading.compare import Array, Mask, Question, Verdict
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

    case: Case
    answers: Mapping[Key, Answer]
    expected: Mapping[str, Array]

    @property
    def answer(self) -> Answer:
        return self.answers[base_key(self.case)]

    def results(self, key: Key | None = None) -> Results:
        """The named results of the call ``key``, by default of the case's own call."""
        return bind(self.answers[key or base_key(self.case)], self.returns)

    @property
    def returns(self) -> Mapping[str, Parameter]:
        """What the case's entry returns."""
        return self.case.entry.returns

    def visible(self, check: CheckBase) -> Mask | None:
        """The mask that ``check.by`` names, True = visible; None where the case has none."""
        return visible_keys(check, self.case)


def visible_keys(check: CheckBase, case: Case) -> Mask | None:
    """The mask that ``check.by`` names, True = visible; None where the case has none."""
    mask = case.arguments.get(check.by) if check.by else None
    if mask is None or check.by is None:
        return None
    array = np.asarray(mask, dtype=np.bool_)
    return ~array if case.entry.parameters[check.by].true_means == "hidden" else array


Compare = Callable[[Array, Array, Question], Verdict | None]


def first_wrong(check: CheckBase, trial: Trial, compare: Compare) -> Verdict | None:
    """Compares every result that ``check.of`` names; the first verdict, or None."""
    results = trial.results()
    failed = failure_verdict(results, trial)
    if failed:
        return failed
    parts = list(named_parts(check, trial.returns))
    for name, _ in parts:
        if name not in results.arrays:
            return missing(name, results, trial)
    return next((v for _, v in part_verdicts(check, trial, compare) if v), None)


def part_verdicts(
    check: CheckBase, trial: Trial, compare: Compare
) -> Iterator[tuple[int, Verdict | None]]:
    """For every result that ``check.of`` names: how many entries count, and the verdict."""
    results = trial.results()
    failed = failure_verdict(results, trial)
    for name, part in named_parts(check, trial.returns):
        expected, question = trial.expected[name], asked(check, trial, name, part)
        size = int(question.counted(expected.shape).sum())
        if name in results.arrays:
            yield size, compare(results.arrays[name], expected, question)
        else:
            yield size, failed or missing(name, results, trial)


def asked(check: CheckBase, trial: Trial, name: str, part: tuple[int, ...]) -> Question:
    """What ``check`` asks about one result, or a part of it."""
    rows = _rows(check, trial, trial.expected[name])
    return Question(trial.case.name, name, check.atol, check.rtol, rows, part)


def failure_verdict(results: Results, trial: Trial) -> Verdict | None:
    """The verdict on a call that gave no values at all."""
    if results.failure is None:
        return None
    missed = results.failure.outcome == Outcome.NOT_DEFINED and results.failure.detail
    finding = finding_of(results.failure, trial.case.name, missed or trial.case.call)
    if results.failure.outcome == Outcome.WRONG_TYPE and _asks_yes_or_no(trial.returns):
        finding = replace(finding, key="not_true_or_false")
    if results.failure.outcome == Outcome.RAISED:
        finding = replace(finding, facts={**finding.facts, "shapes": _shapes(trial.case)})
    return Verdict(results.failure.outcome, finding)


def _asks_yes_or_no(returns: Mapping[str, Parameter]) -> bool:
    return [(stated.dtype, stated.shape) for stated in returns.values()] == [("bool", ())]


def _shapes(case: Case) -> dict[str, Json]:
    arguments = case.arguments.items()
    return {name: list(value.shape) for name, value in arguments if isinstance(value, np.ndarray)}


def missing(name: str, results: Results, trial: Trial) -> Verdict:
    """The verdict where the function returned something, but not ``name``."""
    facts: dict[str, object] = {
        "case": trial.case.name,
        "name": name,
        "names": list(trial.returns),
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


def _rows(check: CheckBase, trial: Trial, expected: Array) -> Mask | None:
    visible = trial.visible(check)
    if check.rows is None or visible is None:
        return None
    return np.broadcast_to(visible.any(axis=-1), expected.shape[:-1])
