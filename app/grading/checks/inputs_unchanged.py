"""The caller's arrays are the caller's: a function must not write into its arguments."""

import numpy as np

from app.domain.checks import InputsUnchangedCheck
from app.domain.outcome import Outcome
from app.domain.run import Finding
from app.grading.compare import Array, Verdict
from app.grading.trial import Trial, failure_verdict


def judge(_: InputsUnchangedCheck, trial: Trial) -> Verdict | None:
    failed = failure_verdict(trial.results(), trial)
    if failed:
        return failed
    after = {value.path: value.array for value in trial.answer.arguments_after}
    for position, (name, before) in enumerate(trial.case.arguments.items()):
        if isinstance(before, np.ndarray) and not _same(before, after.get((position,))):
            facts = {"case": trial.case.name, "name": name}
            return Verdict(Outcome.WRONG, Finding(key="changed_input", facts=facts))
    return None


def _same(before: Array, after: Array | None) -> bool:
    return after is not None and np.array_equal(before, after, equal_nan=before.dtype.kind == "f")
