"""Several functions in one problem, procedures around them, nested and callable arguments."""

from dataclasses import replace

import numpy as np
import pytest

from app.domain.submission import Submission
from app.domain.words import sentence
from app.grading.cases import draw_cases
from app.grading.grade import grade
from app.sandbox.job import Function

PROBLEM = """
    id: model
    kind: code
    title: {en: Model, zh: 模型}
    section: "3.6"
    source: written for the tests
    points: 10
    statement: {en: Build., zh: 写。}
    entries:
      affine:
        parameters:
          x: {shape: [n, D]}
          weights: {members: {W: {shape: [D, H*d]}, b: {shape: [H*d]}}}
        returns: {y: {shape: [n, H*d]}}
      counter:
        parameters: {}
        returns: {}
      stack:
        uses: [affine]
        parameters:
          x: {shape: [n, D]}
          layers: {repeat: L, members: {W: {shape: [D, D]}, b: {shape: [D]}}}
        returns: {y: {shape: [n, D]}}
      counted:
        uses: [counter]
        parameters: {steps: {shape: [T], dtype: int64, below: V}, size: {dtype: int64, value: V}}
        returns: {totals: {shape: [T], dtype: int64}}
      applied:
        parameters: {f: {function: true}, x: {shape: [n]}}
        returns: {y: {shape: [n]}}
    given: |
      import numpy as np

      def stack(affine, x, layers):
          for layer in layers:
              x = affine(x, layer)
          return x

      def counted(counter, steps, size):
          count = counter(size)
          return np.array([count.add(int(step)) for step in steps])

      def twice(x):
          return 2 * x

      def negative(x):
          return -x
    starter: "def affine(x, weights): ..."
    solution: |
      def affine(x, weights):
          return x @ weights["W"] + weights["b"]

      class counter:
          def __init__(self, size):
              self.size, self.total = size, 0

          def add(self, step):
              self.total = (self.total + step) % self.size
              return self.total

      def applied(f, x):
          return f(f(x))
    cases:
      one: {call: affine, dims: {n: 2, D: 3, H: 5, d: 7}}
      given:
        call: affine
        dims: {H: 3, d: 1}
        x: [[1, 2]]
        weights: {W: [[1, 0, 2], [0, 1, 1]], b: [7, 7, 7]}
      deep: {call: stack, dims: {n: 2, D: 5, L: 3}}
      steps: {call: counted, dims: {T: 11, V: 3}}
      twice: {call: applied, f: twice}
      negative: {call: applied, f: negative}
    checks:
      - {id: one, kind: values, cases: [one, given], points: 2}
      - {id: deep, kind: values, of: [y], cases: [deep], points: 3}
      - {id: steps, kind: values, cases: [steps], points: 3}
      - {id: functions, kind: values, cases: [twice, negative], points: 1}
      - {id: clean, kind: inputs_unchanged, cases: [deep], points: 1}
"""

RIGHT = """
def affine(x, weights):
    return x @ weights["W"] + weights["b"]

class counter:
    def __init__(self, size):
        self.size, self.seen = size, []

    def add(self, step):
        self.seen.append(step)
        return sum(self.seen) % self.size

def applied(f, x):
    return f(f(x))
"""


@pytest.fixture(scope="module")
def model(problem_of):
    return problem_of(PROBLEM, "model")


@pytest.fixture
def judged(model, graded, outcomes):
    """The outcomes of the right code after one edit."""

    def edited(old="", new=""):
        assert RIGHT.count(old) == 1 or not old
        return outcomes(graded(model, RIGHT.replace(old, new) if old else RIGHT))

    return edited


def test_functions_classes_and_procedures_are_called_as_the_cases_say(judged):
    assert set(judged().values()) == {"passed"}


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ('+ weights["b"]', "", {"one", "deep"}),
        ("sum(self.seen)", "step", {"steps"}),
        ("f(f(x))", "f(x)", {"functions"}),
    ],
)
def test_a_mistake_shows_where_its_function_is_called(judged, old, new, wrong):
    assert {name for name, outcome in judged(old, new).items() if outcome == "wrong"} == wrong


def test_a_class_that_is_not_there_fails_only_the_procedure_that_uses_it(judged, model, graded):
    found = judged("class counter", "class kounter")
    assert {name for name, outcome in found.items() if outcome == "not_defined"} == {"steps"}
    run = graded(model, RIGHT.replace("class counter", "class kounter"))
    (finding,) = (r.finding for r in run.checks if r.id == "steps")
    assert finding.facts["entry"] == "counter"


@pytest.mark.parametrize(
    ("old", "new", "check", "told"),
    [
        (  # in the procedure alone
            "def add",
            "def addd",
            "steps",
            "case steps: AttributeError: 'counter' object has no attribute 'add' (in the problem's "
            "own code, which calls yours)",
        ),
        (  # in the student's class, called by the procedure
            "self.seen.append(step)",
            "step / 0",
            "steps",
            "case steps: ZeroDivisionError: division by zero (work.py, line 10)",
        ),
        (  # in the problem's function, called by the student's
            "f(f(x))",
            "f('text')",
            "functions",
            "case negative: TypeError: bad operand type for unary -: 'str' (work.py, line 14)",
        ),
    ],
)
def test_an_exception_is_placed_in_the_student_s_line_and_never_in_the_problem_s_own_code(
    old, new, check, told, model, graded
):
    last = tuple(replace(c, cases=c.cases[-1:]) for c in model.checks)
    run = graded(replace(model, checks=last), RIGHT.replace(old, new))
    (finding,) = (result.finding for result in run.checks if result.id == check)
    assert sentence(finding, "en").startswith(told)
    assert "given_by_staff" not in sentence(finding, "en") + sentence(finding, "zh")


def test_an_exception_in_the_problem_s_own_code_is_told_in_chinese_too(model, graded):
    run = graded(model, RIGHT.replace("def add", "def addd"))
    (finding,) = (result.finding for result in run.checks if result.id == "steps")
    assert "（在题目调用你的代码的程序中）" in sentence(finding, "zh")


@pytest.mark.parametrize("files", [["mymodel.py"], ["a.py", "src/model.py.txt"]])
def test_where_no_file_has_the_name_that_is_asked_for_that_is_said(files, model, sandbox):
    asked = replace(model, file="model.py")
    sent = Submission(files=dict.fromkeys(files, RIGHT.encode()))
    run = grade(asked, sent, sandbox, 1)
    assert run.score == 0
    assert {result.outcome for result in run.checks} == {"not_defined"}
    told = {sentence(result.finding, "en") for result in run.checks}
    assert told == {f"no file is called model.py; you sent {', '.join(files)}"}
    told = sentence(run.checks[0].finding, "zh")
    assert told == f"没有名为 model.py 的文件；你提交了 {', '.join(files)}"


@pytest.mark.parametrize("name", ["model.py", "src/model.py"])
def test_a_file_of_the_name_that_is_asked_for_is_found_in_a_folder_too(name, model, sandbox):
    sent = Submission(files={"notes.py": b"x = 1", name: RIGHT.encode()})
    assert grade(replace(model, file="model.py"), sent, sandbox, 1).score == 10


def test_of_many_files_that_were_sent_the_first_are_named(model, sandbox):
    sent = Submission(files={f"f{n}.py": b"x = 1" for n in range(9)})
    (finding, *_) = (
        r.finding for r in grade(replace(model, file="model.py"), sent, sandbox, 1).checks
    )
    assert sentence(finding, "en").endswith("you sent f0.py, f1.py, f2.py, f3.py, f4.py, …")


def test_writing_into_nested_weights_is_seen_behind_a_procedure(judged):
    found = judged('return x @ weights["W"]', 'weights["b"] *= 1.5\n    return x @ weights["W"]')
    assert found["clean"] == "wrong"


def test_arguments_are_drawn_by_their_statements(model):
    cases = {case.name: case for case in draw_cases(model, seed=3)}
    assert cases["one"].arguments["weights"]["W"].shape == (3, 5 * 7)
    assert cases["given"].arguments["weights"]["b"].tolist() == [7.0, 7.0, 7.0]
    layers = cases["deep"].arguments["layers"]
    assert [layer["W"].shape for layer in layers] == [(5, 5)] * 3
    assert not np.array_equal(layers[0]["W"], layers[1]["W"])
    steps = cases["steps"].arguments["steps"]
    assert steps.dtype == np.int64
    assert set(steps.tolist()) <= {0, 1, 2}
    assert cases["steps"].arguments["size"] == 3
    assert cases["twice"].arguments["f"] == Function("twice", "given_by_staff.py")


def test_a_seed_of_its_own_gives_a_case_the_same_numbers_in_every_run(problem_of):
    text = PROBLEM.replace("one: {call: affine,", "one: {call: affine, seed: 7,")
    seeded, free = problem_of(text, "model"), problem_of(PROBLEM, "model")
    first, second = (draw_cases(seeded, seed)[0].arguments["x"] for seed in (1, 2))
    assert np.array_equal(first, second)
    first, second = (draw_cases(free, seed)[0].arguments["x"] for seed in (1, 2))
    assert not np.array_equal(first, second)


NUMBERS = """
    id: numbers
    kind: code
    title: {en: Numbers, zh: 数}
    section: "3.8"
    source: written for the tests
    points: 7
    statement: {en: Compute., zh: 算。}
    entry: f
    parameters: {x: {shape: [B, n]}, M: {shape: [n, m], infinite: true}}
    returns: {dx: {shape: [B, n]}}
    starter: "def f(x, M): ..."
    solution: |
      def f(x, M):
          return x * 1e6
    cases:
      a: {x: [[1, 2, 3], [5, 7, 0]], M: [[-.inf, 0], [0, -.inf], [.inf, 1]]}
      b: {dims: {B: 2, n: 3, m: 5}, M: mixed_bias}
      c: {dims: {B: 2, n: 3, m: 5}, M: hard_bias}
    checks:
      - {id: gradient, kind: gradient, cases: [a], points: 1}
      - {id: values, kind: values, cases: [a], points: 1}
      - {id: alone, kind: invariant, change: {x: other_samples}, of: ["dx[0]"], cases: [b, c],
         points: 1}
      - {id: share, kind: values, cases: [a], points: 3, credit: per_entry}
      - {id: finite, kind: finite, cases: [b], points: 1}
"""


@pytest.fixture
def numbers(problem_of, graded):
    problem = problem_of(NUMBERS, "numbers")
    return lambda code: {r.id: r for r in graded(problem, f"def f(x, M):\n    {code}\n").checks}


def test_a_gradient_is_as_exact_as_its_largest_entry(numbers):
    found = numbers("return x * 1e6 + 0.1")
    assert found["gradient"].outcome == "passed"
    assert found["values"].outcome == "wrong"
    assert numbers("return x * 1e6 + 1")["gradient"].outcome == "wrong"


def test_what_must_not_matter_is_changed_and_the_named_part_compared(numbers):
    assert numbers("return x * 1e6")["alone"].outcome == "passed"
    assert numbers("return x * 1e6 + x[1:2]")["alone"].outcome == "wrong"
    found = numbers("x = x * 1e6; x[1] += x[0]; return x")
    assert found["alone"].outcome == "passed"


def test_credit_per_entry_counts_the_right_entries(numbers):
    assert numbers("return x * 1e6")["share"].points == 3
    found = numbers("x = x * 1e6; x[0] += 1; return x")
    assert (found["share"].points, found["values"].points) == (1.5, 0)
    assert numbers("return x[0]")["share"].points == 0


def test_biases_are_drawn_with_a_visible_key_in_every_row(problem_of):
    cases = {case.name: case for case in draw_cases(problem_of(NUMBERS, "numbers"), seed=1)}
    for name in ("b", "c"):
        bias = cases[name].arguments["M"]
        assert np.isfinite(bias).any(axis=-1).all()
        assert np.isneginf(bias).any()
    finite = cases["c"].arguments["M"]
    assert set(finite[np.isfinite(finite)]) == {0.0}
