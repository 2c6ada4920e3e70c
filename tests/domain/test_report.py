"""What a report says to whom, and what it leaves out."""

import dataclasses
import json
from pathlib import Path

import pytest

from app.catalogue.problem_file import read_problem
from app.domain.gradescope import gradescope_results
from app.domain.outcome import Outcome
from app.domain.report import Report, report_of
from app.domain.run import CheckResult, Finding, RunResult

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def problem():
    return read_problem(ROOT / "problems/masks/s33-masked-attention.yaml").problem


def value(case, got, expected):
    facts = {
        "case": case, "name": "A", "index": [0, 0], "got": got, "expected": expected,
        "wrong": 1, "total": 4,
    }  # fmt: skip
    return Finding(key="value", facts=facts)


@pytest.fixture
def run():
    """A run as grading gives it: masked after softmax."""
    known = "mask_after_softmax"
    return RunResult(
        status="graded",
        score=2.0,
        checks=(
            CheckResult(
                id="fixed", outcome=Outcome.WRONG, points=0.0, misconception=known,
                finding=value("assignment1", 0.669761549, 1.0),
            ),
            CheckResult(
                id="random", outcome=Outcome.WRONG, points=0.0, misconception=known,
                finding=value("random[3]", 0.12345, 0.54321),
            ),
            CheckResult(id="zero", outcome=Outcome.PASSED, points=1.0),
            CheckResult(
                id="leak", outcome=Outcome.RAISED, points=0.0,
                finding=Finding(key="raised", facts={
                    "case": "causal", "error_type": "ValueError", "detail": "hidden text",
                    "file": "work.py", "line": 7,
                }),
            ),
            CheckResult(id="stress", outcome=Outcome.PASSED, points=1.0),
            CheckResult(
                id="empty", outcome=Outcome.NOT_FINITE, points=0.0,
                finding=Finding(key="not_finite", facts={
                    "case": "empty_row", "name": "A", "index": [1, 0], "got": "nan",
                    "wrong": 3, "total": 6,
                }),
            ),
        ),
        seed=987654321,
        sandbox_level="full",
        printed="seen by all\n",
        printed_hidden="Q of a hidden case\n",
        sandbox_s=0.031,
        total_s=0.048,
    )  # fmt: skip


def told(problem, run, language="en", **more):
    return json.loads(
        report_of(problem, "sha256:abc", run, language=language, **more).model_dump_json()
    )


def test_the_keys_are_those_of_the_contract(problem, run):
    report = told(problem, run)
    assert list(report) == [
        "id", "problem", "problem_version", "seed", "status", "score", "max_score", "checks",
        "misconceptions", "warnings", "remarks", "timing", "limits", "stdout", "sandbox_level",
    ]  # fmt: skip
    keys = ["id", "outcome", "points", "max_points", "message", "misconception", "hidden"]
    assert all(list(check)[: len(keys)] == keys for check in report["checks"])
    assert list(report["misconceptions"][0]) == ["id", "checks", "feedback"]
    assert list(report["timing"]) == ["queued_s", "sandbox_s", "total_s"]
    assert list(report["limits"]) == ["wall_s", "memory_mb"]


def test_the_values_are_those_of_the_run(problem, run):
    report = told(problem, run, submission_id="0192", queued_s=0.004)
    assert (report["id"], report["problem"]) == ("0192", "s33-masked-attention")
    assert report["problem_version"] == "sha256:abc"
    assert (report["status"], report["score"], report["max_score"]) == ("graded", 2.0, 10.0)
    assert report["timing"] == {"queued_s": 0.004, "sandbox_s": 0.031, "total_s": 0.048}
    assert report["limits"] == {"wall_s": 10, "memory_mb": 512}
    assert report["sandbox_level"] == "full"
    assert [c["id"] for c in report["checks"]] == [
        "fixed",
        "random",
        "zero",
        "leak",
        "stress",
        "empty",
    ]
    assert [c["max_points"] for c in report["checks"]] == [2, 3, 1, 2, 1, 1]
    assert [c["hidden"] for c in report["checks"]] == [False, True, True, True, False, False]


def test_staff_see_the_seed_all_messages_expected_values_and_all_that_was_printed(problem, run):
    report = told(problem, run)
    assert report["id"] is None
    assert report["seed"] == 987654321
    assert report["stdout"] == "seen by all\nQ of a hidden case\n"
    assert [check["message"] for check in report["checks"]] == [
        "case assignment1: A[0, 0] is 0.669762; 1 of 4 entries of A is wrong; expected 1",
        "case random[3]: A[0, 0] is 0.12345; 1 of 4 entries of A is wrong; expected 0.54321",
        "",
        "case causal: ValueError: hidden text (work.py, line 7)",
        "",
        "case empty_row: A[1, 0] is nan; 3 of 6 entries of A are wrong",
    ]


def test_a_student_sees_no_seed_nothing_of_hidden_checks_and_no_expected_value(problem, run):
    report = told(problem, run, viewer="student")
    assert report["seed"] is None
    assert report["stdout"] == "seen by all\n"
    assert [check["message"] for check in report["checks"]] == [
        "case assignment1: A[0, 0] is 0.669762; 1 of 4 entries of A is wrong",
        "", "", "", "",
        "case empty_row: A[1, 0] is nan; 3 of 6 entries of A are wrong",
    ]  # fmt: skip
    assert [c["outcome"] for c in report["checks"]][1:4] == ["wrong", "passed", "raised"]
    text = json.dumps(report)
    for secret in ("987654321", "0.12345", "0.54321", "random[3]", "hidden text", "hidden case"):
        assert secret not in text


def test_after_reveal_a_student_sees_what_staff_see_but_the_print_of_hidden_cases(problem, run):
    revealed = told(problem, run, viewer="student", revealed=True)
    staff = told(problem, run)
    assert revealed == staff | {"stdout": "seen by all\n"}


def test_a_visible_check_shows_the_expected_value_where_the_file_says_so(problem, run):
    shown = dataclasses.replace(
        problem,
        checks=tuple(dataclasses.replace(c, show_expected=True) for c in problem.checks),
    )
    messages = [check["message"] for check in told(shown, run, viewer="student")["checks"]]
    assert messages[0].endswith("; expected 1")
    assert messages[1] == ""


def test_a_misconception_is_told_once_with_all_its_checks(problem, run):
    for viewer in ("student", "staff"):
        (known,) = told(problem, run, viewer=viewer)["misconceptions"]
        assert (known["id"], known["checks"]) == ("mask_after_softmax", ["fixed", "random"])
        assert known["feedback"].startswith("Zeroing weights after softmax")


def test_a_report_in_chinese_is_chinese_throughout(problem, run):
    report = told(problem, run, "zh")
    assert report["misconceptions"][0]["feedback"].startswith("softmax 后才乘 0")
    assert (
        report["checks"][0]["message"]
        == "用例 assignment1：A[0, 0] 为 0.669762；A 的 4 个元素中有 1 个不对；应为 1"
    )
    assert (
        report["checks"][3]["message"] == "用例 causal：ValueError：hidden text（work.py 第 7 行）"
    )


def test_the_note_of_an_accepted_form_is_a_warning():
    shapes = read_problem(ROOT / "problems/closed-book/cb-shapes.yaml").problem
    checks = tuple(
        CheckResult(id=check.id, outcome=Outcome.PASSED, points=check.points)
        for check in shapes.checks
    )
    run = RunResult(
        status="graded", score=10.0, checks=checks, seed=1, sandbox_level="",
        notes=("one_weight_per_head",),
    )  # fmt: skip
    assert "one block for each head" in told(shapes, run)["warnings"][0]
    assert "每个头一块" in told(shapes, run, "zh")["warnings"][0]
    assert told(shapes, run)["sandbox_level"] is None


def test_a_report_survives_json(problem, run):
    report = report_of(problem, "v", run, language="zh")
    assert Report.model_validate_json(report.model_dump_json()) == report


def test_gradescope_gets_the_students_view(problem, run):
    report = report_of(problem, "v", run, language="en", viewer="student")
    results = gradescope_results(report)
    assert (results["score"], results["output_format"]) == (2.0, "text")
    assert "mask_after_softmax: Zeroing weights" in results["output"]
    rows = {row["name"]: row for row in results["tests"]}
    assert [row["status"] for row in rows.values()] == [
        "failed", "failed", "passed", "failed", "passed", "failed",
    ]  # fmt: skip
    assert rows["random"]["output"] == "wrong"
    assert (rows["fixed"]["score"], rows["fixed"]["max_score"]) == (0.0, 2.0)
    assert "0.54321" not in json.dumps(results)
