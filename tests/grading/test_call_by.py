"""Parameters by other names, and in another order where the problem allows it."""

import pytest

from app.errors import ProblemFileError

PROBLEM = """
    id: weighted
    kind: code
    title: {en: Weighted, zh: 加权}
    section: "3.1"
    source: written for the tests
    points: 3
    statement: {en: Any., zh: 任意。}
    entry: weighted
    parameters:
      weights: {shape: [n]}
      values: {shape: [n]}
      visible: {shape: [n], dtype: bool, optional: true}
    CALL_BY
    returns: {y: {}}
    starter: "def weighted(weights, values, visible=None): ..."
    solution: |
      def weighted(weights, values, visible=None):
          kept = weights ** 2 * values
          return (kept if visible is None else kept[visible]).sum()
    cases:
      all: {dims: {n: 5}}
      some: {dims: {n: 7}, visible: random_with_one}
    checks:
      - {id: all, kind: values, cases: [all], points: 1}
      - {id: some, kind: values, cases: [some], points: 1}
      - {id: inputs, kind: inputs_unchanged, cases: [some], points: 1}
"""

BODY = """
    kept = weights ** 2 * values
    return (kept if visible is None else kept[visible]).sum()
"""


@pytest.fixture(scope="module")
def by_name(problem_of):
    return problem_of(PROBLEM.replace("CALL_BY", "call_by: name"), "weighted")


@pytest.fixture(scope="module")
def by_position(problem_of):
    return problem_of(PROBLEM.replace("CALL_BY", ""), "weighted")


OTHER_ORDERS = {
    "another order": f"def weighted(values, weights, visible=None):{BODY}",
    "optional first": f"def weighted(visible, values, weights):{BODY}",
    "keywords alone": f"def weighted(*, weights, visible=None, values):{BODY}",
    "some keywords alone": f"def weighted(weights, values, *, visible=None):{BODY}",
    "more with defaults": f"def weighted(eps=0, values=0, weights=0, visible=None, *a, **k):{BODY}",
    "object": f"class C:\n  def __call__(self, values, weights, visible):{BODY}\nweighted = C()",
    "class": f"""
class weighted(float):
    def __new__(cls, values, visible, weights):{BODY.replace(chr(10), chr(10) + "    ")}
""",
    "partial": f"""
import functools
def general(scale, values, weights, visible):{BODY}
weighted = functools.partial(general, 1)
""",
    "wrapped": f"""
import functools
def once(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(*args, **kwargs)
    return inner
@once
def weighted(values, weights, visible=None):{BODY}
""",
}
"""Functions with the stated names that cannot be called by position."""

STATED_ORDER = {
    "same names": f"def weighted(weights, values, visible=None):{BODY}",
    "other names": "def weighted(w, x, m): return (w**2 * x)[m if m is not None else ...].sum()",
    "one other name": f"def weighted(w, values, visible):\n    weights = w{BODY}",
    "positions alone": f"def weighted(weights, values, visible, /):{BODY}",
    "star": f"def weighted(*given):\n    weights, values, visible = given{BODY}",
    "stars": f"def weighted(*given, **more):\n    weights, values, visible = given{BODY}",
    "lambda": "weighted = lambda a, b, c: (a**2 * b if c is None else (a**2 * b)[c]).sum()",
    "wrapper of positions": f"""
import functools
def once(f):
    @functools.wraps(f)
    def inner(*args):
        return f(*args)
    return inner
@once
def weighted(weights, values, visible=None):{BODY}
""",
    "bare wrapper": f"""
def once(f):
    return lambda *args, **kwargs: f(*args, **kwargs)
@once
def weighted(w, values, visible=None):\n    weights = w{BODY}
""",
    "no signature": f"""
class Odd:
  @property
  def __signature__(self):
    raise RuntimeError("no")
  def __call__(self, weights, values, visible):{BODY}
weighted = Odd()
""",
}
"""Functions that take the arguments in the order of the statement."""


@pytest.mark.parametrize("form", OTHER_ORDERS)
def test_a_function_with_the_stated_names_may_order_them_at_will(form, by_name, graded):
    assert graded(by_name, OTHER_ORDERS[form]).score == 3


@pytest.mark.parametrize("form", OTHER_ORDERS)
def test_another_order_is_not_taken_where_the_problem_does_not_allow_it(form, by_position, graded):
    assert graded(by_position, OTHER_ORDERS[form]).score < 3


@pytest.mark.parametrize("form", STATED_ORDER)
def test_the_stated_order_is_always_taken_whatever_the_names(form, by_name, by_position, graded):
    assert graded(by_name, STATED_ORDER[form]).score == 3
    assert graded(by_position, STATED_ORDER[form]).score == 3


def test_a_function_that_needs_more_than_the_stated_names_is_called_by_position(by_name, graded):
    run = graded(by_name, "def weighted(values, weights, visible, scale): ...")
    assert run.checks[0].outcome == "raised"
    assert "missing 1 required positional argument: 'scale'" in str(run.checks[0].finding.facts)


PROCEDURE = """
    id: both
    kind: code
    title: {en: Both, zh: 两者}
    section: "3.1"
    source: written for the tests
    points: 2
    statement: {en: Any., zh: 任意。}
    entries:
      minus:
        parameters: {a: {shape: [n]}, b: {shape: [n]}}
        call_by: name
        returns: {y: {shape: [n]}}
      twice:
        uses: [minus]
        parameters: {a: {shape: [n]}, b: {shape: [n]}}
        MORE
        returns: {y: {shape: [n]}}
    given: |
      def twice(minus, a, b):
          return minus(a=minus(a=a, b=b), b=b)
    starter: "def minus(a, b): ..."
    solution: "def minus(a, b): return a - b"
    cases: {one: {call: minus, dims: {n: 3}}, two: {call: twice, dims: {n: 5}}}
    checks:
      - {id: one, kind: values, cases: [one], points: 1}
      - {id: two, kind: values, cases: [two], points: 1}
"""


def test_each_entry_says_so_for_itself_and_procedures_stay_as_they_are(problem_of, graded):
    both = problem_of(PROCEDURE.replace("MORE", ""), "both")
    assert graded(both, "def minus(b, a): return a - b").score == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PROCEDURE.replace("MORE", "call_by: name"), "a procedure is called by position"),
        (
            PROCEDURE.replace("MORE", "").replace("starter", "call_by: name\n    starter"),
            "`call_by` belongs to each of `entries`",
        ),
        (
            PROCEDURE.replace("MORE", "").replace("{a: {shape: [n]}, b:", "{a: {shape: [n]}, in:"),
            "`in` cannot name a parameter in Python",
        ),
        (
            PROCEDURE.replace("MORE", "").replace("{a: {shape: [n]}, b:", "{a: {shape: [n]}, ﬁt:"),
            "`ﬁt` cannot name a parameter in Python",
        ),
        (PROCEDURE.replace("MORE", "call_by: names"), "Input should be 'position' or 'name'"),
    ],
)
def test_a_contradiction_is_told_at_its_place(text, message, problem_of):
    with pytest.raises(ProblemFileError, match=message):
        problem_of(text, "both")
