"""A check that says ``isolate``: what a function remembers of one case is no help in another."""

from pathlib import Path
from textwrap import dedent

import pytest

from app.catalogue.problem_file import read_problem
from app.domain.outcome import Outcome
from app.domain.submission import Submission
from app.grading.grade import grade

PROBLEM = """
id: memory
kind: code
title: {en: Squares, zh: 平方}
section: "3.1"
source: written for this test
points: 3
statement: {en: "Return the squares of x.", zh: "返回 x 的平方。"}
entry: squares
parameters: {x: {shape: [T]}}
returns: {y: {shape: [T]}}
starter: "def squares(x): ..."
solution: |
  def squares(x):
      return x * x
cases:
  first: {x: [1, 2]}
  second: {x: [3, 5]}
checks:
  - {id: alone, kind: values, cases: [first, second], points: 2, isolate: true}
  - {id: again, kind: repeatable, cases: [first], points: 1}
accepted: [{id: power, code: "def squares(x): return x ** 2"}]
misconceptions:
  - id: doubled
    caught_by: alone
    feedback: {en: "That is twice x.", zh: "这是两倍。"}
    code: "def squares(x): return x + x"
"""

REMEMBERS = b"""
calls = 0
def squares(x):
    global calls
    calls += 1
    return x * x if calls == WRONG_FROM else x + x
"""


def outcomes(sandbox, text: str, code: bytes):
    problem = read_problem(Path("memory.yaml"), dedent(text).encode()).problem
    result = grade(problem, Submission(files={"work.py": code}), sandbox, seed=1)
    return {check.id: check.outcome for check in result.checks}


@pytest.mark.parametrize(("isolate", "outcome"), [(True, Outcome.PASSED), (False, Outcome.WRONG)])
def test_each_case_meets_a_process_that_was_never_called(sandbox, isolate, outcome):
    text = PROBLEM if isolate else PROBLEM.replace(", isolate: true", "")
    code = REMEMBERS.replace(b"WRONG_FROM", b"1")  # right on the first call only
    assert outcomes(sandbox, text, code)["alone"] is outcome


def test_a_repetition_stays_in_the_process_of_its_case(sandbox):
    code = REMEMBERS.replace(b"WRONG_FROM", b"1")
    assert outcomes(sandbox, PROBLEM, code)["again"] is Outcome.WRONG
