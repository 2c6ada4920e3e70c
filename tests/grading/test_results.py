"""The forms in which results and files are taken, and the numbers that are the same."""

import numpy as np
import pytest

from app.domain.outcome import Outcome

PAIR = """
    id: pair
    kind: code
    title: {en: Pair, zh: 一对}
    section: "3.1"
    source: written for the tests
    points: 6
    statement: {en: Both., zh: 两个。}
    entry: pair
    parameters: {x: {shape: [n, m]}, keep: {shape: [n], dtype: bool}}
    returns: {y: {shape: [n, m]}, total: {shape: [m]}, count: {dtype: int64}, kept: {shape: [n], dtype: bool}}
    starter: "def pair(x, keep): ..."
    solution: |
      def pair(x, keep):
          return x * 2, x.sum(axis=0), int(keep.sum()), keep
    cases:
      fixed: {x: [[1, -2, 3], [5, -7, 11]], keep: [true, false]}
    checks:
      - {id: y, kind: values, of: [y], cases: [fixed], points: 2}
      - {id: total, kind: values, of: [total], cases: [fixed], points: 2}
      - {id: count, kind: values, of: [count], cases: [fixed], points: 1, atol: 0}
      - {id: kept, kind: values, of: [kept], cases: [fixed], points: 1, atol: 0}
"""  # noqa: E501


@pytest.fixture(scope="module")
def pair(problem_of):
    return problem_of(PAIR, "pair")


ALL = dict.fromkeys(("y", "total", "count", "kept"), "passed")


@pytest.mark.parametrize(
    "returned",
    [
        "2 * x, x.sum(0), 1, keep",
        "[2 * x, x.sum(0), 1, keep]",
        "{'kept': keep, 'total': x.sum(0), 'count': 1, 'y': 2 * x}",
        "{'y': 2 * x, 'total': x.sum(0), 'count': 1, 'kept': keep, 'more': None or 7}",
        "Pair(2 * x, x.sum(0), 1, keep)",
        "2 * t, t.sum(0), torch.tensor(1), torch.as_tensor(keep)",
        "2 * t.requires_grad_(), t.sum(0), torch.sum(torch.as_tensor(keep)), torch.as_tensor(keep)",
        "(2 * x).tolist(), x.sum(0).tolist(), 1, keep.tolist()",
        "[[2, -4, 6], [10, -14, 22]], [6, -9, 14], 1, [True, False]",
        "((2, -4, 6), (10, -14, 22)) and 2 * x, (x[0] + x[1]), np.int8(1), np.array(keep)",
        "[list(2 * row) for row in x], [float(v) for v in x.sum(0)], np.array(1), list(keep)",
        "2 * x.astype(np.float32), x.sum(0).astype(np.float16), np.uint8(1), keep",
        "np.asfortranarray(2 * x), x[::-1].sum(0)[::-1][::-1], 1, keep[::-1][::-1]",
        "np.ma.array(2 * x), np.asmatrix(x.sum(0)).A1, 1, keep",
    ],
)
def test_results_are_taken_in_every_form_that_says_the_same(returned, pair, graded, outcomes):
    code = f"""
        from collections import namedtuple
        import numpy as np, torch
        Pair = namedtuple("Pair", "y total count kept")
        def pair(x, keep):
            t = torch.as_tensor(x)
            return {returned}
    """
    assert outcomes(graded(pair, code)) == ALL


@pytest.mark.parametrize(
    ("returned", "check", "outcome"),
    [
        ("2 * x", "y", "passed"),
        ("2 * x", "total", "wrong_type"),
        ("2 * x", "kept", "wrong_type"),
        ("(2 * x, x.sum(0))", "total", "passed"),
        ("(2 * x, x.sum(0))", "count", "wrong_type"),
        ("{'total': x.sum(0)}", "total", "passed"),
        ("{'total': x.sum(0)}", "y", "wrong_type"),
        ("(2 * x, None, 1, keep)", "total", "wrong_type"),
        ("((2 * x).astype(int), 1.0 * x.sum(0), 1, keep)", "y", "wrong_dtype"),
        ("(2 * x, x.sum(0), 1.0, keep)", "count", "wrong_dtype"),
        ("(2 * x, x.sum(0), True, keep)", "count", "wrong_dtype"),
        ("(2 * x, x.sum(0), 1, keep * 1)", "kept", "wrong_dtype"),
        ("(2 * x, x.sum(0), np.array([1]), keep)", "count", "wrong_shape"),
        ("(2 * x, x.sum(0, keepdims=True), 1, keep)", "total", "wrong_shape"),
        ("(2 * x, x.sum(0), 1, ~keep)", "kept", "wrong"),
        ("(x.sum(0), 2 * x, 1, keep)", "y", "wrong_shape"),
    ],
)
def test_what_is_missing_or_of_another_kind_fails_its_own_check(
    returned, check, outcome, pair, graded, outcomes
):
    code = f"import numpy as np\ndef pair(x, keep):\n    return {returned}\n"
    assert outcomes(graded(pair, code))[check] == outcome


ZERO = """
    id: zero
    kind: code
    title: {en: Zero, zh: 零}
    section: "3.1"
    source: written for the tests
    points: 1
    statement: {en: Zero., zh: 零。}
    entry: zero
    parameters: {x: {shape: [n]}}
    returns: {y: {shape: [n]}}
    starter: "def zero(x): ..."
    solution: SOLUTION
    cases: {fixed: {x: [1, -2, 3]}}
    checks: [{id: y, kind: values, cases: [fixed], points: 1, atol: ATOL}]
"""


def zero(problem_of, solution, atol=0):
    text = ZERO.replace("SOLUTION", f'"def zero(x): return {solution}"').replace("ATOL", str(atol))
    return problem_of(text, "zero")


def test_negative_zero_equals_zero(problem_of, graded):
    assert graded(zero(problem_of, "0 * abs(x)"), "def zero(x): return -0.0 * abs(x)").score == 1


def test_a_tolerance_is_met_at_its_bound_and_not_beyond(problem_of, graded):
    problem = zero(problem_of, "0 * x", atol=0.25)
    assert graded(problem, "def zero(x): return 0 * x + 0.25").score == 1
    assert graded(problem, "def zero(x): return 0 * x + 0.2500001").score == 0


@pytest.mark.parametrize("given", ["x * float('nan')", "x * float('inf')", "x * 1e400"])
def test_what_is_not_finite_never_matches_a_number(given, problem_of, graded, outcomes):
    run = graded(zero(problem_of, "x", atol=1e300), f"def zero(x): return {given}")
    assert outcomes(run) == {"y": "not_finite"}


def test_infinite_values_match_where_they_are_expected_and_only_with_their_sign(
    problem_of, graded, outcomes
):
    problem = zero(problem_of, "x * float('inf')")
    assert outcomes(graded(problem, "def zero(x): return x * float('inf')")) == {"y": "passed"}
    assert outcomes(graded(problem, "def zero(x): return abs(x) * float('inf')")) == {"y": "wrong"}
    assert outcomes(graded(problem, "def zero(x): return x")) == {"y": "wrong"}
    assert outcomes(graded(problem, "def zero(x): return x * float('nan')")) == {"y": "wrong"}


RIGHT = "def zero(x):\n    y = x * 2\n    return y / 2\n"


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + RIGHT.encode(),
        RIGHT.replace("\n", "\r\n").encode(),
        RIGHT.replace("\n", "\r").encode(),
        RIGHT.replace("    ", "\t").encode(),
        b"\xef\xbb\xbf" + RIGHT.replace("\n", "\r\n").replace("    ", "\t").encode(),
        b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + RIGHT.encode(),
        b"# coding: gbk\n" + "# 中文\n".encode("gbk") + RIGHT.encode(),
        ("# 注释 ∑\n" + RIGHT).encode(),
        RIGHT.rstrip().encode(),
        RIGHT.replace("x", "anything_else").encode(),
        (RIGHT + "if __name__ == '__main__':\n    input('?')\n").encode(),
        ("from __future__ import annotations\n" + RIGHT).encode(),
        b"zero = lambda x, /: x\n",
        b"class Zero:\n    def __call__(self, x): return x\nzero = Zero()\n",
        b"from functools import partial\ndef f(k, x): return x * k\nzero = partial(f, 1)\n",
        b"def zero(x, *more, scale=1, **other): return x * scale\n",
        b"import asyncio, torch, scipy_is_absent\n".replace(b", scipy_is_absent", b"")
        + RIGHT.encode(),
    ],
)
def test_a_file_is_read_as_python_reads_it(data, problem_of, graded):
    assert graded(zero(problem_of, "x"), data).score == 1


@pytest.mark.parametrize(
    "name",
    ["numpy.py", "torch.py", "random.py", "app.py", "reference.py", "__init__.py", "__main__.py",
     "submission.py", "sys.py", "a b.py", "1.py", "x.y.py", "中文.py", "-.py", "conftest.py"],
)  # fmt: skip
def test_the_name_of_a_file_breaks_nothing(name, problem_of, graded):
    code = "import numpy as np, random, torch\ndef zero(x): return np.asarray(x)\n"
    assert graded(zero(problem_of, "x"), code, name=name).score == 1


def test_one_submission_called_numpy_leaves_the_next_one_alone(problem_of, graded, outcomes):
    problem = zero(problem_of, "x")
    rude = "import sys\nsys.modules['numpy'] = None\ndef zero(x): return x * 0\n"
    assert outcomes(graded(problem, rude, name="numpy.py")) == {"y": "wrong"}
    polite = "import numpy as np\ndef zero(x): return np.array(x)\n"
    assert graded(problem, polite, name="numpy.py").score == 1


def test_text_that_visible_cases_print_is_kept_apart_from_that_of_hidden_ones(masked, graded):
    code = """
        import sys
        print("loading")
        def masked_attention(Q, K, V, visible):
            print("shape", Q.shape, "∑", file=sys.stderr)
            return Q
    """
    run = graded(masked, code)
    assert run.printed.startswith("loading\nshape (2, 2) ∑\n")
    assert run.printed.count("shape") == 4  # assignment1, two of stress, one of empty
    assert run.printed_hidden.count("shape") > 8
    assert "loading" not in run.printed_hidden


def test_what_a_failing_import_prints_is_told_once(masked, graded):
    run = graded(masked, "print('before')\nraise ValueError\n")
    assert (run.printed, run.printed_hidden) == ("before\n", "")


def test_printed_text_is_cut_at_64_kb_in_all_with_a_mark(masked, graded):
    run = graded(masked, "def masked_attention(*a): print('é' * 25_000)\n")
    for text in (run.printed, run.printed_hidden):
        assert text.endswith("\n[output cut at 64 kB]\n")
        assert len(text.encode()) <= 64_000 + 30


def test_arguments_that_are_written_into_are_told_by_name(sdpa, graded, outcomes):
    code = """
        import numpy as np
        def scaled_dot_product_attention(q, k, v, mask=None):
            k *= 1.0000001
            return q, q
    """
    run = graded(sdpa, code)
    assert outcomes(run)["inputs_unchanged"] == "wrong"
    (result,) = [check for check in run.checks if check.id == "inputs_unchanged"]
    assert result.finding.facts == {"case": "plain_square", "name": "k"}


def test_a_result_that_chance_decides_is_not_repeatable(sdpa, graded, outcomes):
    code = """
        import numpy as np
        def scaled_dot_product_attention(q, k, v, mask=None):
            return q + np.random.default_rng().normal(), q
    """
    assert outcomes(graded(sdpa, code))["repeatable"] == Outcome.WRONG


def test_evidence_shows_both_sides_and_where_they_differ(pair, graded):
    code = "def pair(x, keep):\n    y = 2 * x\n    y[1, 2] = float('nan')\n    return y\n"
    evidence = graded(pair, code).checks[0].evidence
    assert evidence.index == (1, 2)
    assert evidence.student == [[2.0, -4.0, 6.0], [10.0, -14.0, "nan"]]
    assert evidence.expected == [[2.0, -4.0, 6.0], [10.0, -14.0, 22.0]]
    assert evidence.wrong == [[False, False, False], [False, False, True]]
    assert evidence.difference == [[0.0, 0.0, 0.0], [0.0, 0.0, "nan"]]
    assert np.array(evidence.wrong).sum() == 1
    assert not evidence.cut
