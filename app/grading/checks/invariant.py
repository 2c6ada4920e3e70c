"""What must not matter: inputs are changed in a way that leaves the results as they were.

The changed call runs in another process, so that no side can know of the other.
"""

from collections.abc import Callable

import numpy as np

from app.domain.checks import InvariantCheck
from app.domain.outcome import Outcome
from app.domain.run import Finding
from app.grading.calls import Calls, call
from app.grading.cases import Case
from app.grading.compare import Array, Question, Verdict, as_json, close, wrong_shape
from app.grading.trial import Key, Trial, failure_verdict, missing, named_parts

AFTER = "after"


def calls(check: InvariantCheck, case: Case) -> Calls:
    changed = dict(case.arguments)
    for name, change in check.change.items():
        changed[name] = CHANGES[change](np.asarray(case.arguments[name]))
    return {_key(check, case): call(case, changed, fork=AFTER)}


def judge(check: InvariantCheck, trial: Trial) -> Verdict | None:
    before, after = trial.results(), trial.results(_key(check, trial.case))
    failed = failure_verdict(before, trial) or failure_verdict(after, trial)
    if failed:
        return failed
    for name, part in named_parts(check, trial.returns):
        for results in (before, after):
            if name not in results.arrays:
                return missing(name, results, trial)
        question = Question(trial.case.name, name, check.atol, check.rtol, part=part)
        old, new = before.arrays[name], after.arrays[name]
        verdict = (
            wrong_shape(old, trial.expected[name], question)
            or wrong_shape(new, old, question)
            or _moved(check, old, new, question)
        )
        if verdict:
            return verdict
    return None


def _moved(check: InvariantCheck, old: Array, new: Array, question: Question) -> Verdict | None:
    bad = ~close(new, old, question) & question.counted(old.shape)
    if not bad.any():
        return None
    index = tuple(int(axis[0]) for axis in np.nonzero(bad))
    facts = question.facts(
        index=list(index),
        names=list(check.change),
        before=as_json(old[index]),
        after=as_json(new[index]),
    )
    return Verdict(Outcome.WRONG, Finding(key="not_invariant", facts=facts))


def _add_row_constants(array: Array) -> Array:
    """Another constant for each row, exact in binary."""
    rows = np.arange(array[..., 0].size).reshape(array.shape[:-1])
    moved: Array = array + (rows * 1.75 - 2.5)[..., None]
    return moved


def _other_samples(array: Array) -> Array:
    """Other numbers in all samples but the first."""
    changed = array.copy()
    changed[1:] = 1.25 - 2 * changed[1:]
    return changed


CHANGES: dict[str, Callable[[Array], Array]] = {
    "add_row_constants": _add_row_constants,
    "other_samples": _other_samples,
}


def _key(check: InvariantCheck, case: Case) -> Key:
    return ("changed", check.id, case.name)
