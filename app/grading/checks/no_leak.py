"""A leak probe: what a query may not see is replaced, and its output must stay as it was.

"Before" is the case's own call; every "after" runs in another process, so that no side can know
of the other. Replacements are finite: with NaN or infinity right code would seem to leak, since
0·NaN is NaN.
"""

from collections.abc import Iterator

import numpy as np

from app.domain.axes import size_of
from app.domain.checks import CAUSALITY, NoLeakCheck
from app.domain.outcome import Outcome
from app.domain.run import Finding
from app.grading.calls import Calls, call
from app.grading.cases import Case
from app.grading.compare import Array, Mask, Question, Verdict, as_json, close, wrong_shape
from app.grading.results import Results
from app.grading.trial import Key, Trial, failure_verdict, missing, named_parts, visible_keys

AFTER = "after"


def calls(check: NoLeakCheck, case: Case) -> Calls:
    """One call for each distinct hidden set of a query and each replacement."""
    return {
        _key(check, case, hidden, replacement): call(
            case, _replaced(check, case, hidden, replacement), fork=AFTER
        )
        for hidden, _ in _hidden_sets(_visible(check, case))
        for replacement in check.replacements
    }


def judge(check: NoLeakCheck, trial: Trial) -> Verdict | None:
    before = trial.results()
    failed = failure_verdict(before, trial)
    if failed:
        return failed
    for name, _ in named_parts(check, trial.returns):
        if name not in before.arrays:
            return missing(name, before, trial)
        verdict = wrong_shape(
            before.arrays[name], trial.expected[name], Question(trial.case.name, name, 0.0)
        )
        if verdict:
            return verdict
    for hidden, queries in _hidden_sets(_visible(check, trial.case)):
        for replacement in check.replacements:
            verdict = _changed(check, trial, before, hidden, queries, replacement)
            if verdict:
                return verdict
    return None


def _changed(
    check: NoLeakCheck,
    trial: Trial,
    before: Results,
    hidden: Mask,
    queries: Mask,
    replacement: float,
) -> Verdict | None:
    after = trial.results(_key(check, trial.case, hidden, replacement))
    failed = failure_verdict(after, trial)
    if failed:
        return failed
    for name, _ in named_parts(check, trial.returns):
        if name not in after.arrays:
            return missing(name, after, trial)
        old, new = before.arrays[name], after.arrays[name]
        question = Question(trial.case.name, name, check.atol, check.rtol)
        verdict = wrong_shape(new, old, question)
        if verdict:
            return verdict
        bad = ~close(new, old, question) & queries[..., None]
        if bad.any():
            return _leak(bad, old, new, question, replacement)
    return None


def _leak(bad: Mask, old: Array, new: Array, question: Question, replacement: float) -> Verdict:
    index = tuple(int(axis[0]) for axis in np.nonzero(bad))
    facts = question.facts(
        index=list(index),
        row=index[-2],
        replacement=replacement,
        before=as_json(old[index]),
        after=as_json(new[index]),
    )
    return Verdict(Outcome.WRONG, Finding(key="leak", facts=facts))


def _visible(check: NoLeakCheck, case: Case) -> Mask | None:
    if check.by != CAUSALITY:
        return visible_keys(check, case)
    first = check.vary[0]
    array = np.asarray(case.arguments[first])
    positions = array.shape[-1 if _holds_tokens(case, first) else -2]
    return np.tri(positions, dtype=np.bool_)


def _holds_tokens(case: Case, name: str) -> bool:
    return case.entry.parameters[name].below is not None


def _hidden_sets(visible: Mask | None) -> Iterator[tuple[Mask, Mask]]:
    """Each distinct set of hidden keys, [T_k], with the queries that have it, [..., T_q]."""
    if visible is None:
        return
    for hidden in np.unique(~visible.reshape(-1, visible.shape[-1]), axis=0):
        if hidden.any():
            yield hidden, (~visible == hidden).all(axis=-1)


def _replaced(
    check: NoLeakCheck, case: Case, hidden: Mask, replacement: float
) -> dict[str, object]:
    changed = dict(case.arguments)
    for name in check.vary:
        rows = np.array(case.arguments[name])
        below = case.entry.parameters[name].below
        if below is None:
            rows[..., hidden, :] = replacement
        else:
            rows[..., hidden] = (rows[..., hidden] + int(replacement)) % size_of(below, case.sizes)
        changed[name] = rows
    return changed


def _key(check: NoLeakCheck, case: Case, hidden: Mask, replacement: float) -> Key:
    return ("leak", check.id, case.name, hidden.tobytes().hex(), repr(replacement))
