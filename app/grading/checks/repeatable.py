"""The same call again: a result that depends on a hidden state or on chance is not repeatable."""

from app.domain.checks import RepeatableCheck
from app.grading.calls import Calls, call
from app.grading.cases import Case
from app.grading.compare import Array, Question, Verdict, wrong_shape, wrong_where
from app.grading.trial import Key, Trial, failure_verdict, missing, named_parts


def again_key(case: Case) -> Key:
    return ("again", case.name)


def reseeded_key(case: Case) -> Key:
    return ("reseeded", case.name)


def calls(check: RepeatableCheck, case: Case) -> Calls:
    if check.across == "seeds":
        return {}  # a seed belongs to a job, so these calls make one of their own
    # In the same process as the first call: there a cache that was kept shows itself.
    return {again_key(case): call(case)}


def judge(check: RepeatableCheck, trial: Trial) -> Verdict | None:
    other = reseeded_key if check.across == "seeds" else again_key
    first, second = trial.results(), trial.results(other(trial.case))
    failed = failure_verdict(first, trial) or failure_verdict(second, trial)
    if failed:
        return failed
    for name, _ in named_parts(check, first.arrays):
        for results in (first, second):
            if name not in results.arrays:
                return missing(name, results, trial)
        verdict = _differing(first.arrays[name], second.arrays[name], trial.case.name, name)
        if verdict:
            return verdict
    return None


def _differing(first: Array, second: Array, case: str, name: str) -> Verdict | None:
    question = Question(case, name, atol=0.0)
    verdict = wrong_shape(second, first, question)
    if verdict:
        return verdict
    differs = (second != first) & ~((second != second) & (first != first))  # NaN twice is the same
    counted = question.counted(first.shape)
    return wrong_where(differs, second, first, question, counted, "not_repeatable")
