"""How each kind of check is judged, and which calls it needs beside the case's own.

One module for each kind that has more to it than a comparison. A new kind is a class in
``domain.checks``, a row here, and its sentence in ``domain.words``.
"""

from collections.abc import Callable
from typing import Any

from app.domain import checks as kinds
from app.grading.calls import Calls
from app.grading.cases import Case
from app.grading.checks import gradient, inputs_unchanged, invariant, no_leak, repeatable, weights
from app.grading.compare import (
    Array,
    Question,
    Verdict,
    compare,
    not_finite,
    wrong_dtype,
    wrong_shape,
)
from app.grading.trial import Trial, first_wrong

Judge = Callable[[Any, Trial], Verdict | None]


def _not_finite(student: Array, expected: Array, question: Question) -> Verdict | None:
    return wrong_shape(student, expected, question) or not_finite(student, expected, question)


JUDGES: dict[type[kinds.CheckBase], Judge] = {
    kinds.ValuesCheck: lambda check, trial: first_wrong(check, trial, compare),
    kinds.ShapeCheck: lambda check, trial: first_wrong(check, trial, wrong_shape),
    kinds.DtypeCheck: lambda check, trial: first_wrong(check, trial, wrong_dtype),
    kinds.FiniteCheck: lambda check, trial: first_wrong(check, trial, _not_finite),
    kinds.ZerosCheck: weights.judge_zeros,
    kinds.RowSumsCheck: weights.judge_row_sums,
    kinds.NoLeakCheck: no_leak.judge,
    kinds.InvariantCheck: invariant.judge,
    kinds.GradientCheck: gradient.judge,
    kinds.InputsUnchangedCheck: inputs_unchanged.judge,
    kinds.RepeatableCheck: repeatable.judge,
}

FURTHER_CALLS: dict[type[kinds.CheckBase], Callable[[Any, Case], Calls]] = {
    kinds.NoLeakCheck: no_leak.calls,
    kinds.InvariantCheck: invariant.calls,
    kinds.RepeatableCheck: repeatable.calls,
}


def judge(check: kinds.CheckBase, trial: Trial) -> Verdict | None:
    """None where ``check`` passes on this case."""
    return JUDGES[type(check)](check, trial)


def further_calls(check: kinds.CheckBase, case: Case) -> Calls:
    """The calls that ``check`` needs on ``case`` beside the case's own."""
    needed = FURTHER_CALLS.get(type(check))
    return needed(check, case) if needed else {}
