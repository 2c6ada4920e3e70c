"""The caller's arrays are the caller's: a function must not write into its arguments."""

from collections.abc import Iterator

import numpy as np

from app.domain.checks import InputsUnchangedCheck
from app.domain.outcome import Outcome
from app.domain.run import Finding
from app.grading.compare import Array, Verdict
from app.grading.trial import Trial, failure_verdict

Path = tuple[str | int, ...]


def judge(_: InputsUnchangedCheck, trial: Trial) -> Verdict | None:
    failed = failure_verdict(trial.results(), trial)
    if failed:
        return failed
    after = {value.path: value.array for value in trial.answer.arguments_after}
    arguments = enumerate(trial.case.arguments.items(), start=len(trial.case.entry.uses))
    for position, (name, before) in arguments:
        for path, array in _arrays(before, (position,)):
            if not _same(array, after.get(path)):
                facts = {"case": trial.case.name, "name": name}
                return Verdict(Outcome.WRONG, Finding(key="changed_input", facts=facts))
    return None


def _arrays(value: object, path: Path) -> Iterator[tuple[Path, Array]]:
    """The arrays in an argument, with the path at which the sandbox tells of them."""
    if isinstance(value, np.ndarray):
        yield path, value
    elif isinstance(value, dict | list):
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for step, member in members:
            yield from _arrays(member, (*path, step))


def _same(before: Array, after: Array | None) -> bool:
    return after is not None and np.array_equal(before, after, equal_nan=before.dtype.kind == "f")
