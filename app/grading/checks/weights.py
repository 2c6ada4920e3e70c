"""What weights must be under a mask: exactly 0 where hidden, and rows that sum to 1 or 0."""

import numpy as np

from app.domain.checks import RowSumsCheck, ZerosCheck
from app.grading.compare import (
    Array,
    Question,
    Verdict,
    not_finite,
    off_by_width,
    wrong_dtype,
    wrong_shape,
    wrong_where,
)
from app.grading.trial import Trial, first_wrong


def judge_zeros(check: ZerosCheck, trial: Trial) -> Verdict | None:
    """Hidden entries are compared with ``== 0``, which -0.0 satisfies and 1e-30 does not."""
    visible = trial.visible(check)

    def hidden_are_zero(student: Array, expected: Array, question: Question) -> Verdict | None:
        verdict = wrong_shape(student, expected, question)
        if verdict or visible is None:
            return verdict
        hidden = ~np.broadcast_to(visible, student.shape)
        counted = hidden & question.counted(student.shape)
        zeros = np.zeros_like(student)
        return wrong_where(student != 0, student, zeros, question, counted, "hidden_weight")

    return first_wrong(check, trial, hidden_are_zero)


def judge_row_sums(check: RowSumsCheck, trial: Trial) -> Verdict | None:
    """Rows along the key axis sum to 1, and to 0 where the query sees nothing."""
    visible = trial.visible(check)

    def rows_sum(student: Array, expected: Array, question: Question) -> Verdict | None:
        verdict = (
            wrong_shape(student, expected, question)
            or wrong_dtype(student, expected, question)
            or not_finite(student, expected, question)
        )
        if verdict:
            return verdict
        sums = student.sum(axis=-1, dtype=np.float64)
        wanted = np.ones_like(sums)
        if visible is not None:
            wanted *= np.broadcast_to(visible.any(axis=-1), sums.shape)
        bad = ~(np.abs(sums - wanted) <= question.atol)
        counted = np.any(question.counted(student.shape), axis=-1)
        whole = Question(question.case, question.name, question.atol)
        single = off_by_width(sums, wanted, whole, of=student)
        key = "single_precision_sum" if single else "row_sum"
        return wrong_where(bad, sums, wanted, question, counted, key)

    return first_wrong(check, trial, rows_sum)
