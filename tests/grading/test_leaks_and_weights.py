"""Checks of weights and leaks under a mask, also with leading axes and with True = hidden."""

import pytest

from app.domain.words import sentence

HEADS = """
    id: heads
    kind: code
    title: {en: Heads, zh: 多头}
    section: "3.5"
    source: written for the tests
    points: 5
    statement: {en: Attend., zh: 注意。}
    entry: attend
    parameters:
      q: {shape: [..., T_q, d]}
      k: {shape: [..., T_k, d]}
      v: {shape: [..., T_k, d_v]}
      hidden: {shape: [..., T_q, T_k], dtype: bool, true_means: hidden, optional: true}
    returns: {A: {shape: [..., T_q, T_k]}, Z: {shape: [..., T_q, d_v]}}
    starter: "def attend(q, k, v, hidden): ..."
    solution: |
      import numpy as np
      def attend(q, k, v, hidden):
          s = np.where(False if hidden is None else hidden, -np.inf, q @ k.swapaxes(-1, -2))
          top = s.max(axis=-1, keepdims=True)
          e = np.exp(s - np.where(np.isfinite(top), top, 0))
          total = e.sum(axis=-1, keepdims=True)
          A = e / np.where(total == 0, 1, total)
          return A, A @ v
    cases:
      heads:
        leading: [2, 3]
        dims: {T_q: 3, T_k: 5, d: 2, d_v: 7}
        hidden: {draw: random, leading: [2, 1]}
      free: {dims: {T_q: 3, T_k: 5, d: 2, d_v: 7}}
    checks:
      - {id: values, kind: values, cases: [heads, free], points: 1}
      - {id: zeros, kind: zeros, of: [A], by: hidden, cases: [heads, free], points: 1}
      - {id: sums, kind: row_sums, of: [A], by: hidden, cases: [heads, free], points: 1}
      - {id: row, kind: values, of: ["A[0, 0, 1]"], cases: [heads], points: 1}
      - {id: leak, kind: no_leak, by: hidden, vary: [k, v], replacements: [3, -3],
         cases: [heads, free], points: 1, atol: 1.0e-12}
"""

ATTEND = """
    import numpy as np
    def attend(q, k, v, hidden):
        hidden = np.zeros((len(q), len(k)), bool) if hidden is None else hidden
        s = np.where(hidden, BEFORE, q @ k.swapaxes(-1, -2))
        top = s.max(axis=-1, keepdims=True)
        e = np.exp(s - np.where(np.isfinite(top), top, 0))
        total = e.sum(axis=-1, keepdims=True)
        A = e / np.where(total == 0, 1, total)
        A = AFTER
        return A, A @ v
"""


@pytest.fixture(scope="module")
def heads(problem_of):
    return problem_of(HEADS, "heads")


def attend(before="-np.inf", after="A"):
    return ATTEND.replace("BEFORE", before).replace("AFTER", after)


def test_right_weights_pass_every_check(heads, graded, outcomes):
    for code in (attend(), attend(after="np.where(hidden, -0.0, A)")):
        assert set(outcomes(graded(heads, code)).values()) == {"passed"}


@pytest.mark.parametrize(
    ("code", "failing"),
    [
        (attend("-9"), {"values", "zeros", "leak", "row"}),
        (attend("q @ k.swapaxes(-1, -2)", "A * ~hidden"), {"values", "leak", "sums", "row"}),
        (attend(after="np.where(hidden, 1e-300, A)"), {"zeros"}),
        (attend(after="A * 1.001"), {"values", "sums", "row"}),
        (attend(after="A + 0 * k.sum()"), set()),
        (attend(after="A + 1e-7 * k.sum() * (A > 0)"), {"leak", "values", "sums", "row"}),
    ],
)
def test_a_wrong_mask_fails_the_checks_that_it_breaks(code, failing, heads, graded, outcomes):
    failed = {name for name, o in outcomes(graded(heads, code)).items() if o != "passed"}
    assert failed == failing


def test_a_part_is_told_by_its_place_in_the_whole_and_counts_its_own_entries(heads, graded):
    run = graded(heads, attend(after="A * 2"))
    (row,) = [check for check in run.checks if check.id == "row"]
    told = sentence(row.finding, "en")
    assert told.startswith("case heads: A[0, 0, 1, ")
    assert "of 5 entries of A" in told
    assert row.evidence.index[:3] == (0, 0, 1)


def test_a_leak_names_the_query_the_replacement_and_both_values(heads, graded):
    run = graded(heads, attend("-1"))
    (leak,) = [check for check in run.checks if check.id == "leak"]
    facts = leak.finding.facts
    assert facts["row"] == facts["index"][-2]
    assert facts["replacement"] in (3, -3)
    assert facts["before"] != facts["after"]
    assert "must not see were replaced by" in sentence(leak.finding, "en")


def test_complex_weights_have_the_wrong_dtype(heads, graded, outcomes):
    found = outcomes(graded(heads, attend(after="A + 0j")))
    assert found["sums"] == found["values"] == "wrong_dtype"


def test_a_state_kept_between_calls_does_not_hide_a_leak(heads, graded, outcomes):
    keeping = (
        attend("-1")
        + """
    honest, kept = attend, {}
    def attend(q, k, v, hidden):
        return kept.setdefault(q.tobytes(), honest(q, k, v, hidden))
"""
    )
    assert outcomes(graded(heads, keeping))["leak"] == "wrong"
