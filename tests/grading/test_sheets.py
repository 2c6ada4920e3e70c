"""Answers to fields: what is right in another form, what is missing, and which mistake it is."""

import pytest

from app.catalogue.problem_file import read_problem
from app.domain.submission import Submission
from app.domain.words import sentence
from app.grading.grade import grade_without_code

RIGHT = {
    "A": [[1, 0], [0.8044, 0.1956]],
    "Z": [[2, -1], [1.8044, -0.8044]],
    "unchanged_row": 2,
}


def judged(problem, answers, seed=1):
    return {
        check.id: check
        for check in grade_without_code(problem, Submission(answers=answers), seed).checks
    }


def points(problem, answers):
    return {name: check.points for name, check in judged(problem, answers).items()}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"A": [[1.0, -0.0], [0.80443, 0.19557]]},
        {"A": [["1", "0"], ["0.8044", "1/5.1133"]]},
        {"unchanged_row": "2"},
        {"unchanged_row": 2.0},
        {"Z": [["２", "−1"], ["1.8044", "-0.8044"]]},
    ],
)
def test_right_answers_in_any_form_earn_all(change, sheet):
    assert points(sheet, RIGHT | change) == {"row1": 4, "row2": 4, "which": 2}


@pytest.mark.parametrize(
    ("change", "outcomes"),
    [
        ({"A": None}, {"row1": "not_defined", "row2": "not_defined", "which": "passed"}),
        ({"unchanged_row": None}, {"row1": "passed", "row2": "passed", "which": "not_defined"}),
        ({"unchanged_row": 1}, {"row1": "passed", "row2": "passed", "which": "wrong"}),
        (
            {"unchanged_row": float("nan")},
            {"row1": "passed", "row2": "passed", "which": "not_finite"},
        ),
        (
            {"A": [[1, 0], [float("nan"), 0.1956]]},
            {"row1": "passed", "row2": "not_finite", "which": "passed"},
        ),
        ({"A": [[1, 0]]}, {"row1": "wrong_shape", "row2": "wrong_shape", "which": "passed"}),
        ({"A": [1, 0]}, {"row1": "wrong_shape", "row2": "wrong_shape", "which": "passed"}),
        (
            {"A": [[1, 0], [0.8045, 0.1956]]},
            {"row1": "passed", "row2": "wrong", "which": "passed"},
        ),
        (
            {"A": [[0.99999, 0], [0.8044, 0.1956]]},
            {"row1": "wrong", "row2": "passed", "which": "passed"},
        ),
    ],
)
def test_a_wrong_or_missing_field_fails_its_own_checks(change, outcomes, sheet):
    answers = {name: value for name, value in (RIGHT | change).items() if value is not None}
    assert {name: check.outcome for name, check in judged(sheet, answers).items()} == outcomes


def test_an_empty_sheet_defines_nothing(sheet):
    checks = judged(sheet, {}).values()
    assert {check.outcome for check in checks} == {"not_defined"}
    assert sentence(next(iter(checks)).finding, "en") == "there is no answer for A"


def test_a_message_counts_rows_as_the_sheet_does(sheet):
    found = judged(sheet, RIGHT | {"A": [[1, 0], [0.8, 0.2]]})["row2"].finding
    assert sentence(found, "en") == "A[1, 0] is 0.8; 2 of 2 entries of A are wrong"


def test_a_known_mistake_is_named_when_rounded_as_students_write(sheet):
    rounded = {"A": [[0.6698, 0], [0.8044, 0.1956]], "Z": [[1.3395, -0.6698], [1.8044, -0.8044]]}
    checks = judged(sheet, RIGHT | rounded)
    assert checks["row1"].misconception == "post_softmax"
    assert checks["row2"].misconception is None


def test_a_mistake_that_is_known_in_part_alone_is_not_named(sheet):
    half = {"A": [[0.6698, 0], [0.8044, 0.1956]]}
    assert judged(sheet, RIGHT | half)["row1"].misconception is None


def test_two_mistakes_in_two_fields_are_each_named_in_their_own_check(sheet):
    both = {
        "A": [[1, 0], [0.8808, 0.1192]],
        "Z": [[2, -1], [1.8808, -0.8808]],
        "unchanged_row": 1,
    }
    named = {name: check.misconception for name, check in judged(sheet, both).items()}
    assert named == {"row1": None, "row2": "no_scale", "which": "first_row_unchanged"}


SHAPES = {
    "WQ": [24, 24],
    "Q": [2, 3, 5, 8],
    "A": [2, 3, 5, 5],
    "Z": [2, 5, 24],
    "cross_Q": "[B, H, T_q, d]",
    "cross_A": "[B, H, T_q, T_k]",
    "cross_Z": "[B, T_q, D]",
}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"WQ": "[D, D]", "Q": "(B, H, T, D/H)", "A": "[2, 3, T, 5]"},
        {"cross_Q": ["B", "H", "T_q", "D/H"]},
        {"cross_Z": "[B, T_q, d*H]"},
        {"cross_Z": "[B, T_q, (D/H)*H]"},
        {"cross_A": "[H*B/H, H, T_q+0, T_k]"},
        {"WQ": [3, 24, 8]},
    ],
)
def test_equivalent_shapes_are_right(change, shapes):
    assert sum(points(shapes, SHAPES | change).values()) == 10


def test_another_accepted_form_earns_the_points_and_the_note_that_the_file_gives(shapes):
    answers = SHAPES | {"Q": [2, 5, 3, 8]}
    run = grade_without_code(shapes, Submission(answers=answers), 1)
    assert run.score == 9
    assert run.notes == ("heads_before_transpose",)
    (q,) = [check for check in run.checks if check.id == "Q"]
    assert (q.outcome, q.points, q.misconception) == ("wrong", 1, "Q_not_transposed")


@pytest.mark.parametrize(
    ("change", "check", "told"),
    [
        ({"A": [2, 3, 5, 8]}, "A", "A is [2, 3, 5, 8]: axis 3 (counted from 0) is wrong"),
        ({"A": [2, 5, 5]}, "A", "A is [2, 5, 5]: 3 is not the right number of axes"),
        ({"WQ": "[2, D, D]"}, "WQ", "WQ is [2, D, D]: 3 is not the right number of axes"),
        (
            {"cross_A": "[B, H, T_q, T_q]"},
            "random",
            "cross_A is [B, H, T_q, T_q]: axis 3 (counted from 0) is wrong",
        ),
        ({"cross_A": "[B, T_q, T_k]"}, "random", "3 is not the right number of axes"),
    ],
)
def test_the_first_wrong_axis_is_named_and_what_it_should_be_is_not(change, check, told, shapes):
    found = judged(shapes, SHAPES | change)[check].finding
    assert told in sentence(found, "en")
    assert "expected" not in sentence(found, "en")
    assert "expected" in sentence(found, "en", show_expected=True)


IN_ANOTHER_FORM = """\
id: two-fields
kind: answer
title: {en: Two fields, zh: 两个字段}
section: "3.5"
source: written for this test
points: 3
statement: {en: Fill in., zh: 填空。}
fields: {rows: {type: matrix, shape: [2]}, scale: {type: number}}
solution: {rows: [2, 3], scale: 5}
checks:
  - {id: both, kind: values, of: [rows, scale], points: 2}
  - {id: first, kind: values, of: ["rows[0]"], points: 1}
accepted:
  - {id: doubled, answers: {rows: [4, 6]}}
misconceptions:
  - id: no_scale
    caught_by: both
    feedback: {en: Scale., zh: 要缩放。}
    answers: {scale: 1}
"""


@pytest.mark.parametrize(
    ("answers", "earned"),
    [
        ({"rows": [4, 6], "scale": 5}, {"both": 2, "first": 1}),
        ({"rows": [4, 6], "scale": 7}, {"both": 0, "first": 1}),
        ({"rows": [4, 6]}, {"both": 0, "first": 1}),
        ({"rows": [4, 9], "scale": 5}, {"both": 0, "first": 1}),
        ({"rows": [9, 6], "scale": 5}, {"both": 0, "first": 0}),
    ],
)
def test_an_accepted_form_counts_where_all_else_that_the_check_asks_is_right(
    answers, earned, tmp_path
):
    path = tmp_path / "two-fields.yaml"
    path.write_text(IN_ANOTHER_FORM, encoding="utf-8")
    assert points(read_problem(path).problem, answers) == earned
