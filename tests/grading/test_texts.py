"""Texts wait for a person; what stands beside them is judged at once."""

from pathlib import Path

import pytest

from app.catalogue.problem_file import read_problem
from app.domain.report import report_of
from app.domain.submission import Submission
from app.grading.grade import grade_without_code

ROOT = Path(__file__).resolve().parents[2]
RUBRIC = ["distribution", "leak", "decode"]


@pytest.fixture(scope="module")
def essay():
    return read_problem(ROOT / "problems/closed-book/cb-query-axis-text.yaml").problem


def judged(essay, text="", answers=None):
    return grade_without_code(essay, Submission(text=text, answers=answers or {}), seed=1)


def test_rubric_lines_are_pending_and_the_score_is_what_the_machine_gave(essay):
    run = judged(essay, "weights over keys, distribution, leak", {"wrong_row1": [0.3302, 0.5]})
    assert (run.status, run.score) == ("needs_review", 2.0)
    assert [(r.id, r.outcome, r.points) for r in run.checks] == [
        *((name, "pending", 0.0) for name in RUBRIC),
        ("number", "passed", 2.0),
    ]


def test_without_a_text_nothing_waits(essay):
    run = judged(essay, " \n", {"wrong_row1": [0.6698, 0.3302]})
    assert (run.status, run.score) == ("graded", 0.0)
    assert [r.outcome for r in run.checks] == ["not_defined"] * 3 + ["wrong"]
    assert run.checks[-1].misconception == "right_axis"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_a_line_asks_for_is_told_to_staff_alone(essay, language):
    run = judged(essay, "text")
    shown = {
        viewer: report_of(essay, "v", run, language=language, viewer=viewer).checks[0].message
        for viewer in ("student", "staff")
    }
    says = essay.rubric[0].says
    assert shown == {"student": "", "staff": says.zh if language == "zh" else says.en}


def test_no_text_earns_points_by_what_it_says(essay):
    samples = [known.text for known in essay.misconceptions if known.text]
    assert len(samples) == 3
    for text in [*samples, *(line.says.en for line in essay.rubric)]:
        assert judged(essay, text).score == 0.0
