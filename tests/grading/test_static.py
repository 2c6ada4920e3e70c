"""What must not stand in the code, and results that must not depend on chance."""

import json

import pytest

from app.grading.checks.static_rules import IMPORT, NAME, UNREADABLE, forbidden
from app.sandbox.notebook import read_cells

MAIN = "if __name__ == '__main__'"

PROBLEM = """
    id: by-hand
    kind: code
    title: {en: By hand, zh: 手写}
    section: "3.1"
    source: written for the tests
    points: 4
    statement: {en: Without the library., zh: 不用库函数。}
    entry: f
    parameters: {x: {shape: [n]}}
    returns: {y: {shape: [n]}}
    starter: "def f(x): ..."
    solution: "def f(x): return x / x.sum()"
    cases: {a: {x: [1, 3, 7]}, b: {x: [1, 1, 0]}}
    checks:
      - {id: values, kind: values, cases: [a], points: 1}
      - {id: own, kind: static, forbid_names: [eval], forbid_imports: [fractions], points: 1}
      - {id: steady, kind: repeatable, across: seeds, cases: [a], points: 1}
      - {id: finite, kind: finite, cases: [b], points: 1}
    misconceptions:
      - id: library
        caught_by: own
        outcome: forbidden
        passes: [values, steady]
        feedback: {en: Write it yourself., zh: 请自己写。}
        code: |
          import fractions

          def f(x):
              return x / x.sum()
      - id: random_start
        caught_by: steady
        feedback: {en: No chance here., zh: 不应随机。}
        code: |
          import numpy as np

          def f(x):
              return x / x.sum() + np.random.normal()
"""


@pytest.fixture(scope="module")
def by_hand(problem_of):
    return problem_of(PROBLEM, "by-hand")


@pytest.fixture
def found(by_hand, graded):
    return lambda code, **more: {r.id: r for r in graded(by_hand, code, **more).checks}


def test_forbidden_code_is_told_with_its_line_and_costs_that_check_alone(found):
    results = found("import fractions\ndef f(x):\n    return x / x.sum()\n")
    own = results.pop("own")
    assert (own.outcome, own.points, own.misconception) == ("forbidden", 0, "library")
    assert dict(own.finding.facts) == {"name": "fractions", "file": "work.py", "line": 1}
    assert {r.outcome for r in results.values()} == {"passed"}


def test_what_never_runs_here_is_not_looked_at(found):
    checks = "    import fractions\n    print(fractions.Fraction(1, 3), f)\n"
    results = found(f"def f(x):\n    return x / x.sum()\n\n{MAIN}:\n{checks}")
    assert {r.outcome for r in results.values()} == {"passed"}


def test_code_that_depends_on_the_seed_is_not_repeatable_and_is_named(found):
    results = found("""
        import numpy as np

        def f(x):
            noise = np.random.normal()
            return noise + x / x.sum()
    """)
    assert (results["steady"].outcome, results["steady"].misconception) == ("wrong", "random_start")
    fixed = "import numpy as np\ndef f(x):\n    np.random.seed(7)\n    return x / x.sum()\n"
    assert found(fixed)["steady"].outcome == "passed"


def test_text_that_is_not_python_gives_no_pass(found):
    results = found("def f(x:\n    return x\n")
    assert {r.outcome for r in results.values()} == {"load_error"}
    assert results["own"].finding.facts["line"] == 1


def test_parsing_a_student_s_text_runs_nothing_of_it(found):
    results = found("raise SystemExit\nimport fractions\n")
    assert results["own"].outcome == "forbidden"
    assert results["values"].outcome == "load_error"


@pytest.mark.parametrize(
    ("source", "names", "imports", "rows"),
    [
        ("import torch\ntorch.softmax(x)", ["torch.softmax"], [], [[0, 0, 2, NAME, 0]]),
        ("import torch as t\nt.softmax(x)", ["torch.softmax"], [], [[0, 0, 2, NAME, 0]]),
        ("from torch import softmax as s\ns(x)", ["torch.softmax"], [], [[0, 0, 2, NAME, 0]]),
        ("import torch.nn.functional as f\nf.softmax(x)", ["torch.softmax"], [], []),
        ("import torch.nn.functional as f\nf.softmax(x)", ["softmax"], [], [[0, 0, 2, NAME, 0]]),
        ("x.softmax(-1)", ["softmax"], [], [[0, 0, 1, NAME, 0]]),
        ("def softmax(x): return x\nsoftmax(1)", ["softmax"], [], []),
        ("softmax = 1", ["torch.softmax"], [], []),
        ("'torch.softmax'  # torch.softmax", ["torch.softmax"], [], []),
        ("\n\neval('1')", ["exec", "eval"], [], [[0, 0, 3, NAME, 1]]),
        ("import scipy", [], ["scipy"], [[0, 0, 1, IMPORT, 0]]),
        ("from scipy.special import softmax", [], ["scipy"], [[0, 0, 1, IMPORT, 0]]),
        ("def f():\n    import numpy.linalg", [], ["numpy.linalg"], [[0, 0, 2, IMPORT, 0]]),
        ("from numpy import linalg", [], ["numpy.linalg"], [[0, 0, 1, IMPORT, 0]]),
        ("import numpy", [], ["numpy.linalg", "scipy"], []),
        ("import scipyx", [], ["scipy"], []),
        (f"{MAIN}:\n    import scipy\n    eval('1')", ["eval"], ["scipy"], []),
        ("if ('__main__') == __name__:\n    import scipy", [], ["scipy"], []),
        (f"{MAIN}: pass\nelse: import scipy", [], ["scipy"], [[0, 0, 2, IMPORT, 0]]),
        (f"{MAIN} or True: import scipy", [], ["scipy"], [[0, 0, 1, IMPORT, 0]]),
        ("if __name__ != '__main__': import scipy", [], ["scipy"], [[0, 0, 1, IMPORT, 0]]),
        (f"def f():\n  {MAIN}: eval('1')", ["eval"], [], [[0, 0, 2, NAME, 0]]),
        (f"__name__ = '__main__'\n{MAIN}: eval('1')", ["eval"], [], [[0, 0, 2, NAME, 0]]),
        ("def f(:", [], ["scipy"], [[0, 0, 1, UNREADABLE, 0]]),
        ("x = '\0'", [], ["scipy"], [[0, 0, 1, UNREADABLE, 0]]),
        ("x" + ".a" * 1500, ["scipy"], [], [[0, 0, 1, UNREADABLE, 0]]),
        ("if " + "-" * 1500 + "x: import scipy", [], ["scipy"], [[0, 0, 1, IMPORT, 0]]),
    ],
)
def test_names_and_imports_are_found_as_python_binds_them(source, names, imports, rows):
    assert forbidden([(source.encode(), None)], names, imports) == rows


def test_findings_tell_the_file_and_come_in_the_order_of_lines():
    sources = [(b"x = 1", None), (b"eval('2')\nimport scipy\neval('3')", None)]
    assert forbidden(sources, ["eval"], ["scipy"]) == [
        [1, 0, 1, NAME, 0],
        [1, 0, 2, IMPORT, 0],
        [1, 0, 3, NAME, 0],
    ]


def notebook(*cells: str) -> bytes:
    made = [{"cell_type": "code", "metadata": {}, "source": cell} for cell in cells]
    return json.dumps({"nbformat": 4, "cells": made}).encode()


@pytest.mark.parametrize(
    ("cells", "rows"),
    [
        (["x = 1", "import scipy"], [[0, 2, 1, IMPORT, 0]]),
        (["import torch as t", "# text", "\nt.softmax(x)"], [[0, 3, 2, NAME, 0]]),
        ([f"{MAIN}:\n    import scipy"], []),
        (["__name__ = '__main__'", f"{MAIN}: import scipy"], [[0, 2, 1, IMPORT, 0]]),
        (["%matplotlib inline\nimport scipy"], [[0, 1, 2, IMPORT, 0]]),
        (["torch.softmax(x)", "import scipy"], [[0, 1, 1, NAME, 0], [0, 2, 1, IMPORT, 0]]),
        (["import scipy +", "%%bash\nimport scipy", "'import scipy'"], []),
        (["x" + ".a" * 9999 + "\nimport scipy"], [[0, 0, 1, UNREADABLE, 0]]),
    ],
)
def test_a_notebook_is_looked_at_as_the_module_that_its_cells_make(cells, rows):
    sources = [(notebook(*cells), read_cells)]
    assert forbidden(sources, ["torch.softmax"], ["scipy"]) == rows


def test_a_forbidden_import_in_a_cell_is_told_with_the_cell(found):
    cells = notebook("%who\nimport fractions", "def f(x):\n    return x / x.sum()")
    results = found(cells, name="hw.ipynb")
    facts = {"name": "fractions", "file": "hw.ipynb", "cell": 1, "line": 2}
    assert (results["own"].outcome, dict(results["own"].finding.facts)) == ("forbidden", facts)
    assert results["values"].outcome == "passed"
    fine = notebook("import fractions +", "def f(x):\n    return x / x.sum()")
    assert found(fine, name="hw.ipynb")["own"].outcome == "passed"
