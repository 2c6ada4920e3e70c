"""Every way a check can end, each by a submission that ends that way."""

import pytest

from app.domain.outcome import Outcome
from app.domain.words import sentence

DOUBLE = """
    id: double
    kind: code
    title: {en: Double, zh: 加倍}
    section: "3.1"
    source: written for the tests
    points: 7
    statement: {en: Double it., zh: 加倍。}
    entry: double
    parameters: {x: {shape: [n, m]}}
    returns: {y: {shape: [n, m]}}
    starter: "def double(x): ..."
    solution: "def double(x): return x * 2"
    cases:
      fixed: {x: [[1, -2, 3], [5, -7, 11]]}
      huge: {x: [[1.0e+300, 0, 1], [0, 1, 2]]}
    checks:
      - {id: shape, kind: shape, cases: [fixed], points: 1}
      - {id: dtype, kind: dtype, cases: [fixed], points: 1}
      - {id: finite, kind: finite, cases: [fixed], points: 1}
      - {id: values, kind: values, cases: [fixed], points: 2}
      - {id: huge, kind: values, cases: [huge], points: 1, rtol: 1.0e-9}
      - {id: late, kind: shape, cases: [fixed], points: 1, requires: [shape, values]}
    limits: {wall_s: 8, case_s: 1, memory_mb: 256}
"""


@pytest.fixture(scope="module")
def double(problem_of):
    return problem_of(DOUBLE, "double")


ENDS = [
    ("return x * 2", "passed", ""),
    (
        "return x * 3",
        "wrong",
        "case fixed: y[0, 0] is 3; 6 of 6 entries of y are wrong; expected 2",
    ),
    (
        "return np.where(x == 5, 0, x * 2)",
        "wrong",
        "y[1, 0] is 0; 1 of 6 entries of y is wrong; expected 10",
    ),
    ("return x * 2 + 1e-8", "wrong", "entries of y are wrong"),
    (
        "return np.where(x == 5, np.nan, x * 2)",
        "not_finite",
        "y[1, 0] is nan; 1 of 6 entries of y is wrong",
    ),
    (
        "return np.where(x == 5, -np.inf, x * 2)",
        "not_finite",
        "y[1, 0] is -inf; 1 of 6 entries of y is wrong",
    ),
    ("return x * np.nan", "not_finite", "y[0, 0] is nan; 6 of 6"),
    ("return (x * 2).astype(int)", "wrong_dtype", "y holds int numbers, expected float"),
    ("return x > 0", "wrong_dtype", "y holds bool numbers, expected float"),
    ("return x * 2 + 0j", "wrong_dtype", "y holds complex numbers, expected float"),
    ("return None", "wrong_type", "the function returned NoneType, expected arrays or numbers"),
    ("return 'text'", "wrong_type", "the function returned str"),
    ("return {1, 2}", "wrong_type", "the function returned set"),
    ("return double", "wrong_type", "the function returned function"),
    ("return (v for v in x)", "wrong_type", "the function returned generator"),
    ("return np.array(['a', 'b'])", "wrong_type", "expected arrays or numbers"),
    ("return np.array([x, None], dtype=object)", "wrong_type", "expected arrays or numbers"),
    ("return ()", "wrong_type", "y is missing: the function returned 0 result(s), expected (y)"),
    ("return {'z': x * 2}", "wrong_type", "y is missing: the function returned 1 result(s)"),
    ("raise ValueError('no luck')", "raised", "case fixed: ValueError: no luck (work.py, line 5)"),
    ("raise KeyError", "raised", "case fixed: KeyError (work.py, line 5)"),
    ("return missing", "raised", "NameError: name 'missing' is not defined (work.py, line 5)"),
    ("return double(x)", "raised", "RecursionError"),
    ("while True: pass", "timed_out", "case fixed: the time limit of 1 s was reached"),
    ("return np.ones((1 << 29,))", "out_of_memory", "the memory limit of 256 MB was reached"),
    ("return np.ones((9 << 20,))", "output_too_large", "the result is larger than 64 MB"),
    ("os._exit(3)", "crashed", "the process ended without an answer (exit code 3)"),
    ("sys.exit(3)", "crashed", "the process ended without an answer (exit code 3)"),
    ("ctypes.string_at(0)", "crashed", "the process ended without an answer (signal 11)"),
]


@pytest.mark.parametrize(("body", "outcome", "message"), ENDS)
def test_a_call_ends_with_its_own_word(body, outcome, message, double, graded):
    code = f"import ctypes, os, sys\nimport numpy as np\n\ndef double(x):\n    {body}\n"
    run = graded(double, code)
    (result,) = [check for check in run.checks if check.id == "values"]
    assert result.outcome == outcome
    assert result.points == (2 if outcome == "passed" else 0)
    told = sentence(result.finding, "en", show_expected=True) if result.finding else ""
    assert message in told


def test_full_marks_are_exactly_the_points_of_the_problem(problem_of, graded):
    tenths = problem_of(
        DOUBLE.replace("points: 7", "points: 4.9")
        .replace("points: 1", "points: 0.7")
        .replace("points: 2", "points: 1.4"),
        "double",
    )
    assert graded(tenths, "def double(x): return x + x").score == tenths.points == 4.9


def test_a_check_is_not_run_where_one_that_it_requires_failed(double, graded, outcomes):
    run = graded(double, "def double(x): return 3 * x")
    assert outcomes(run)["late"] == "not_run"
    finding = run.checks[-1].finding
    assert sentence(finding, "en") == "not judged, since this did not pass: values"
    assert outcomes(graded(double, "def double(x): return 2 * x"))["late"] == "passed"


@pytest.mark.parametrize(
    ("code", "outcome", "message"),
    [
        ("def double(x:\n    pass", "load_error", "'(' was never closed (work.py, line 1)"),
        ("import nonsense", "load_error", "No module named 'nonsense' (work.py, line 1)"),
        ("x = 1\n\nx / 0", "load_error", "ZeroDivisionError: division by zero (work.py, line 3)"),
        (
            "import sys\nsys.exit()",
            "load_error",
            "file calls sys.exit() when it is loaded (work.py, line 2)",
        ),
        ("import os\nos._exit(0)", "load_error", "(exit code 0)"),
        ("def Double(x): return 2 * x", "not_defined", "your file does not define double"),
        ("# nothing", "not_defined", "your file does not define double"),
        ("double = 7", "raised", "TypeError: 'int' object is not callable"),
        ("def double(): return 1", "raised", "takes 0 positional arguments but 1 was given"),
    ],
)
def test_what_cannot_be_called_fails_every_check(code, outcome, message, double, graded):
    run = graded(double, code)
    assert run.score == 0
    assert {check.outcome for check in run.checks[:-1]} == {outcome}
    assert message in sentence(run.checks[0].finding, "en")


def test_an_endless_import_meets_a_time_limit(problem_of, graded, outcomes):
    double = problem_of(DOUBLE.replace("wall_s: 8", "wall_s: 1"), "double")
    run = graded(double, "while True: pass")
    assert set(outcomes(run).values()) == {"timed_out", "not_run"}
    assert sentence(run.checks[0].finding, "en") == "case fixed: the time limit of 1 s was reached"


def test_an_empty_file_is_a_load_error_of_every_check(double, graded):
    for nothing in (b"", b" \n\t\r\n"):
        run = graded(double, nothing)
        assert {check.outcome for check in run.checks} == {Outcome.LOAD_ERROR}
        assert sentence(run.checks[0].finding, "en") == "work.py is empty"


def test_a_call_that_ends_the_process_costs_its_own_case_alone(double, graded, outcomes):
    code = """
        import os
        def double(x):
            if x.max() > 100:
                os._exit(1)
            return x * 2
    """
    assert outcomes(graded(double, code)) == {
        "shape": "passed", "dtype": "passed", "finite": "passed", "values": "passed",
        "huge": "crashed", "late": "passed",
    }  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        "return (x * 2)[None]",
        "return x[:1] * 2",
        "return (x * 2)[:, :1]",
        "return 2.0",
        "return x.T * 2",
        "return (x * 2).ravel()",
        "return np.zeros((0, 3))",
        "return np.broadcast_to(np.float64(2), (1, 1))",
    ],
)
def test_another_shape_is_wrong_even_where_it_would_broadcast(body, double, graded, outcomes):
    code = f"import numpy as np\ndef double(x):\n    x = np.ones_like(x)\n    {body}\n"
    found = outcomes(graded(double, code))
    assert found.pop("dtype") == "passed"
    assert found.pop("late") == "not_run"
    assert set(found.values()) == {"wrong_shape"}


def test_a_shape_is_judged_before_dtype_and_dtype_before_finite_and_finite_before_values(
    double, graded, outcomes
):
    worse = ["x * 3", "x * 3 + np.nan", "(x > 0) & False", "(x > 0)[:1]"]
    found = [
        outcomes(graded(double, f"import numpy as np\ndef double(x): return {body}"))["values"]
        for body in worse
    ]
    assert found == ["wrong", "not_finite", "wrong_dtype", "wrong_shape"]
