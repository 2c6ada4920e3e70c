"""Exactly one known misunderstanding is named, or none."""

from pathlib import Path
from textwrap import dedent, indent

import pytest

from app.catalogue.problem_file import read_problem
from app.domain.outcome import Outcome

ROOT = Path(__file__).resolve().parents[2]
MASKED = (ROOT / "problems/masks/s33-masked-attention.yaml").read_text(encoding="utf-8")


def named(run):
    return {check.id: check.misconception for check in run.checks if check.misconception}


def with_misconception(tmp_path, code, name="extra", caught_by="fixed"):
    """The shipped problem with one more known wrong answer, and nothing else changed."""
    entry = f"- id: {name}\n  caught_by: {caught_by}\n  feedback: {{en: E., zh: 中。}}\n  code: |\n"
    entry = indent(entry, "  ") + indent(dedent(code).strip() + "\n", "      ")
    path = tmp_path / "s33-masked-attention.yaml"
    path.write_text(MASKED.replace("misconceptions:\n", "misconceptions:\n" + entry))
    return read_problem(path).problem


MASK_AFTER = """
    import torch
    def masked_attention(queries, keys, values, can_see):
        q, k, v = map(torch.from_numpy, (queries, keys, values))
        w = torch.softmax(q.mm(k.t()).div(q.shape[1] ** 0.5), 1)
        w[~torch.from_numpy(can_see)] = 0
        return [w, w.mm(v)]
"""

NEGATED = """
    import numpy as np
    def masked_attention(Q, K, V, visible):
        S = np.where(visible, -Q @ K.T / np.sqrt(Q.shape[-1]), -np.inf)
        top = S.max(axis=-1, keepdims=True)
        e = np.exp(S - np.where(np.isfinite(top), top, 0.0))
        total = e.sum(axis=-1, keepdims=True)
        A = e / np.where(total == 0, 1.0, total)
        return A, A @ V
"""


def test_the_same_mistake_in_other_words_is_named_on_every_check_that_shows_it(masked, graded):
    run = graded(masked, MASK_AFTER)
    failed = [check.id for check in run.checks if check.outcome != Outcome.PASSED]
    assert named(run) == dict.fromkeys(failed, "mask_after_softmax")
    assert failed == ["fixed", "random", "leak", "stress", "empty"]
    assert run.score == 1


def test_a_right_submission_has_no_misconception(masked, graded):
    code = next(a.code for a in masked.accepted if a.id == "torch_masked_fill")
    run = graded(masked, code)
    assert run.score == 10
    assert named(run) == {}


def test_a_misconception_that_only_a_file_adds_is_named(masked, tmp_path, graded):
    assert named(graded(masked, NEGATED)) == {}
    known = with_misconception(tmp_path, NEGATED)
    assert set(named(graded(known, NEGATED)).values()) == {"extra"}
    assert set(named(graded(known, MASK_AFTER)).values()) == {"mask_after_softmax"}


@pytest.mark.parametrize(
    "code",
    [
        # No scale, and masked after softmax.
        """
        import numpy as np
        def masked_attention(Q, K, V, visible):
            e = np.exp(Q @ K.T - (Q @ K.T).max(-1, keepdims=True))
            A = e / e.sum(-1, keepdims=True) * visible
            return A, A @ V
        """,
        # The mask inverted, over the query axis.
        """
        import numpy as np
        def masked_attention(Q, K, V, visible):
            S = np.where(~visible, Q @ K.T / np.sqrt(Q.shape[-1]), -1e9)
            e = np.exp(S - S.max(0))
            A = e / e.sum(0)
            return A, A @ V
        """,
        # One mistake on small inputs, another on large ones.
        """
        import numpy as np
        def masked_attention(Q, K, V, visible):
            S = Q @ K.T / (np.sqrt(Q.shape[-1]) if len(Q) > 3 else 1)
            e = np.exp(S - S.max(-1, keepdims=True))
            A = e / e.sum(-1, keepdims=True)
            A = A * visible if len(Q) > 3 else A
            return A, A @ V
        """,
        "def masked_attention(Q, K, V, visible): return Q @ K.T * 0, Q @ K.T @ V * 0",
        "def masked_attention(Q, K, V, visible): raise ValueError",
        "def masked_attention(Q, K, V, visible): return None",
        "import nothing_of_this_name",
        "",
    ],
)
def test_what_equals_no_known_answer_is_not_named(code, masked, graded):
    run = graded(masked, code)
    assert run.score < masked.points
    assert named(run) == {}


def test_of_two_answers_that_no_input_tells_apart_none_is_named(masked, tmp_path, graded):
    twin = next(m.code for m in masked.misconceptions if m.id == "mask_after_softmax")
    known = with_misconception(tmp_path, twin, "twin")
    assert named(graded(known, MASK_AFTER)) == {}
    assert set(named(graded(known, NEGATED.replace("-Q", "2 * Q"))).values()) == set()


def test_two_answers_that_agree_on_the_failed_case_are_told_apart_by_others(masked, graded):
    # On a fully hidden row -1e9 and -100 both give raw uniform weights; stress tells them apart.
    for known in ("fill_minus_100", "fill_minus_1e9"):
        code = next(m.code for m in masked.misconceptions if m.id == known)
        assert set(named(graded(masked, code)).values()) == {known}


def test_two_answers_that_agree_on_all_cases_of_the_run_are_told_apart_by_further_ones(
    problem_of, graded
):
    problem = problem_of("""
        id: first
        kind: code
        title: {en: First, zh: 首}
        section: "3.1"
        source: written for the tests
        points: 1
        statement: {en: The first entry., zh: 第一个元素。}
        entry: first
        parameters: {x: {shape: [n]}}
        returns: {y: {}}
        starter: "def first(x): ..."
        solution: "def first(x): return x[0]"
        cases:
          fixed: {x: [3, 2, 5, 7]}
          drawn: {dims: {n: 1000}, entries: normals}
        checks:
          - {id: fixed, kind: values, cases: [fixed], points: 1}
        misconceptions:
          - id: second
            caught_by: fixed
            feedback: {en: "Second.", zh: "第二个。"}
            code: "def first(x): return x[1]"
          - id: least
            caught_by: fixed
            feedback: {en: "Least.", zh: "最小的。"}
            code: "def first(x): return x.min()"
    """, "first")  # fmt: skip
    assert named(graded(problem, "def first(x): return sorted(x)[0]")) == {"fixed": "least"}
    assert named(graded(problem, "def first(x): return x[-3 % len(x) if len(x) < 5 else 1]")) == {
        "fixed": "second"
    }


def test_a_known_answer_that_ends_its_process_spoils_no_diagnosis(tmp_path, graded):
    ending = "import os\ndef masked_attention(Q, K, V, visible): os._exit(1)\n"
    known = with_misconception(tmp_path, ending)
    assert set(named(graded(known, MASK_AFTER)).values()) == {"mask_after_softmax"}


def test_a_known_answer_that_cannot_be_loaded_spoils_no_diagnosis(tmp_path, graded):
    known = with_misconception(tmp_path, "import nothing_of_this_name")
    assert set(named(graded(known, MASK_AFTER)).values()) == {"mask_after_softmax"}


def test_ids_that_differ_in_a_hyphen_alone_are_two_misconceptions(tmp_path, graded):
    known = with_misconception(tmp_path, NEGATED, "mask-after-softmax")
    assert set(named(graded(known, MASK_AFTER)).values()) == {"mask_after_softmax"}
    assert set(named(graded(known, NEGATED)).values()) == {"mask-after-softmax"}


TWO = """
    id: two
    kind: code
    title: {en: Two functions, zh: 两个函数}
    section: "3.1"
    source: written for the tests
    points: 4
    statement: {en: Sum and maximum., zh: 和与最大值。}
    entries:
      total: {parameters: {x: {shape: [n]}}, returns: {y: {}}}
      largest: {parameters: {x: {shape: [n]}}, returns: {y: {}}}
      both:
        uses: [total, largest]
        parameters: {x: {shape: [n]}}
        returns: {y: {}}
    given: |
      def both(total, largest, x):
          return total(x) - largest(x)
    starter: |
      def total(x): ...
      def largest(x): ...
    solution: |
      def total(x):
          return x.sum()

      def largest(x):
          return x.max()
    cases:
      total: {call: total, x: [2, 3, 7, 13]}
      drawn: {call: total, count: 3, dims: {n: [2, 5]}, entries: normals}
      largest: {call: largest, x: [2, 17, 5, 11]}
      both: {call: both, x: [2, 3, 5, 11]}
    checks:
      - {id: total, kind: values, cases: [total, drawn], points: 1}
      - {id: largest, kind: values, cases: [largest], points: 1}
      - {id: both, kind: values, cases: [both], points: 1}
      - {id: kept, kind: inputs_unchanged, cases: [largest], points: 1}
    accepted:
      - id: by_hand
        code: |
          import numpy as np

          def total(x):
              return np.sum(x)

          def largest(x):
              return np.max(x)
    misconceptions:
      - id: mean
        caught_by: total
        passes: [largest]
        feedback: {en: Mean., zh: 平均。}
        changes: {np.sum(x): np.mean(x)}
      - id: least
        caught_by: largest
        passes: [total]
        feedback: {en: Least., zh: 最小。}
        changes: {np.max(x): np.min(x)}
      - id: maximum
        caught_by: total
        passes: [largest]
        feedback: {en: Maximum., zh: 最大。}
        changes: {np.sum(x): x.max()}
      - id: exchanged
        caught_by: total
        feedback: {en: Exchanged., zh: 互换。}
        code: |
          def total(x):
              return x.max()

          def largest(x):
              return x.sum()
      - id: sorts_in_place
        caught_by: kept
        passes: [total, largest, both]
        feedback: {en: Sorted., zh: 排序。}
        changes: {"return np.max(x)": "x.sort(); return x[-1]"}
"""


@pytest.fixture(scope="module")
def two(problem_of):
    return problem_of(TWO, "two")


@pytest.mark.parametrize(
    ("total", "largest", "causes"),
    [
        ("x.mean()", "x.max()", {"total": "mean", "both": "mean"}),
        ("x.mean()", "min(x)", {"total": "mean", "largest": "least"}),
        ("x.mean()", "str(x)", {"total": "mean"}),
        ("x.mean()", "x / 0 + missing", {"total": "mean"}),
        ("x.mean()", "x[-1]", {"total": "mean"}),
        ("x.mean() + 1", "min(x)", {"largest": "least"}),
        ("x.sum() if len(x) == 4 else x.mean()", "min(x)", {"largest": "least"}),
        ("max(x)", "sum(x)", {"total": "exchanged", "largest": "exchanged", "both": "exchanged"}),
        ("max(x)", "min(x)", {"total": "maximum", "largest": "least"}),
        ("max(x)", "x.max()", {"total": "maximum", "both": "maximum"}),
        ("x.mean()", "sum(x)", {"total": "mean"}),
        (
            "x.mean()",
            "[x.sort(), x[-1]][1]",
            {"total": "mean", "both": "mean", "kept": "sorts_in_place"},
        ),
    ],
)
def test_of_mistakes_in_two_functions_each_is_named_where_its_function_is_called(
    total, largest, causes, two, graded
):
    code = f"def total(x):\n    return {total}\ndef largest(x):\n    return {largest}\n"
    found = named(graded(two, code))
    assert found == causes


def test_a_mistake_is_named_where_the_other_function_is_missing(two, graded):
    assert named(graded(two, "def total(x): return x.mean()")) == {"total": "mean"}
