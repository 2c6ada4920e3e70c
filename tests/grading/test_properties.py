"""Answers of which many are right: staff code asks for a property, in the sandbox."""

import pytest

from app.domain.submission import Submission
from app.errors import AttestError
from app.grading.grade import grade

PROBLEM = """
    id: pair
    kind: answer
    title: {en: Pair, zh: 一对}
    section: "3.1"
    source: written for the tests
    points: 5
    statement: {en: Give., zh: 写。}
    fields:
      sum: {type: integer}
      parts: {type: matrix, shape: [3]}
      words: {type: choice, choices: [red, green, blue], several: true}
    solution: {sum: 7, parts: [2, 2, 3], words: [green, red]}
    checks:
      - id: parts
        kind: property
        points: 3
        holds: |
          def holds(parts, sum):
              assert parts.shape == (3,)
              return parts.sum() == sum
      - {id: words, kind: values, of: [words], points: 2}
    misconceptions:
      - id: product
        caught_by: parts
        feedback: {en: Add., zh: 加。}
        answers: {parts: [1, 7, 1]}
        when: |
          def when(parts, sum):
              return parts.prod() == sum
      - id: zeros
        caught_by: parts
        feedback: {en: Not zero., zh: 非零。}
        answers: {parts: [0, 0, 0]}
"""


@pytest.fixture
def judged(problem_of, sandbox):
    def run(answers, text=PROBLEM):
        submission = Submission(answers={"sum": 7, "words": "red, green"} | answers)
        run = grade(problem_of(text, "pair"), submission, sandbox, seed=1)
        return {result.id: result for result in run.checks}

    return run


@pytest.mark.parametrize(
    ("answers", "outcome", "cause"),
    [
        ({"parts": [2, 2, 3]}, "passed", None),
        ({"parts": ["1/2", 6, 0.5]}, "passed", None),
        ({"parts": [3, 5, 7], "sum": 15}, "passed", None),
        ({"parts": [2, 2, 2]}, "wrong", None),
        ({"parts": [3, 5, 7], "sum": 105}, "wrong", "product"),
        ({"parts": [0, 0, 0]}, "wrong", "zeros"),
        ({"parts": [2, 5]}, "wrong_shape", None),
        ({"parts": [float("nan"), 2, 5]}, "not_finite", None),
        ({}, "not_defined", None),
    ],
)
def test_an_answer_is_right_if_it_has_the_property(judged, answers, outcome, cause):
    found = judged(answers)["parts"]
    assert (found.outcome, found.misconception) == (outcome, cause)


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        (["red", "green"], "passed"),
        ("Green,red", "passed"),
        (["red", "red", "green"], "passed"),
        ("none", "wrong"),
        ([], "wrong"),
        (["red"], "wrong"),
    ],
)
def test_several_choices_count_as_a_set(judged, words, outcome):
    assert judged({"words": words})["words"].outcome == outcome


@pytest.mark.parametrize("body", ["raise ValueError('no')", "return 'yes'", "return parts"])
def test_staff_code_that_does_not_answer_is_our_fault(judged, body):
    text = PROBLEM.replace("return parts.sum() == sum", body)
    with pytest.raises(AttestError, match="problem pair, `holds` of `parts`"):
        judged({"parts": [2, 2, 3]}, text)


def test_of_two_wrong_answers_the_one_that_says_more_is_named(judged):
    text = (
        PROBLEM
        + """
      - id: zeros_and_sum
        caught_by: parts
        feedback: {en: Nothing at all., zh: 全无。}
        answers: {parts: [0, 0, 0], sum: 1}
    """
    )
    assert judged({"parts": [0, 0, 0], "sum": 1}, text)["parts"].misconception == "zeros_and_sum"
    assert judged({"parts": [0, 0, 0], "sum": 2}, text)["parts"].misconception == "zeros"
