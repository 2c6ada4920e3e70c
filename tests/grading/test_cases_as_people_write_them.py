"""Submissions of attention as people really write them, each with the verdict of a fair grader."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from app.domain.outcome import Outcome
from app.domain.submission import Submission
from app.grading.grade import grade

NAMES = [
    "01-softmax-over-queries",
    "10-mask-polarity-inverted",
    "11-mask-multiplied-into-scores",
    "13-mask-after-softmax-renormalised",
    "15-zero-times-minus-inf",
    "17-fully-masked-row-nan",
    "19-fully-masked-row-zero",
    "22-mask-reshape-assumes-square",
    "55-int-inputs-true-divide",
    "57-einsum-wrong-index",
    "73-returns-list-of-lists",
    "75-returns-output-only",
    "77-extra-leading-axis",
    "79-reuses-one-output-buffer",
    "81-other-parameter-names",
    "83-lambda-and-callable-object",
    "85-float32-inside",
    "87-bom-and-crlf",
    "89-mixed-tabs-and-spaces",
    "91-gbk-with-coding-line",
    "93-prints-unicode",
    "95-main-guard-with-input",
    "97-sys-exit-at-import",
    "99-exception-in-one-case",
    "101-optional-import",
    "103-relative-file-read",
    "105-recursion-over-keys",
    "107-thread-never-ends",
    "109-seeds-the-global-generator",
]
NOTEBOOKS = ["110-notebook-with-magics", "112-notebook-cell-order"]

CANNOT_RUN = "the other checks cannot run"

NAMED = {
    "01-softmax-over-queries": "softmax_over_queries",
    "10-mask-polarity-inverted": "mask_inverted",
}
"""The submissions that equal a misconception which the problem file knows."""


def folders(shared: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for file in (shared / "cases").glob("*/case.yaml"):
        yield file.parent.name, YAML(typ="safe").load(file)


def test_every_folder_of_this_kind_is_graded_here(shared):
    here = {name for name, case in folders(shared) if case["problem_kind"] == "sdpa"}
    assert len(NAMES) == 29
    assert here == {*NAMES, *NOTEBOOKS}


@pytest.mark.parametrize("name", NAMES)
def test_each_check_passes_or_fails_as_a_fair_grader_says(name, shared, sdpa, sandbox):
    folder = shared / "cases" / name
    expected = YAML(typ="safe").load(folder / "case.yaml")["expected"]
    failing = set(expected["fail"])
    if expected.get("note") == CANNOT_RUN:
        failing = {check.id for check in sdpa.checks}
    files = {"submission.py": (folder / "submission.py").read_bytes()}
    run = grade(sdpa, Submission(files=files), sandbox, seed=7)
    failed = {check.id for check in run.checks if check.outcome != Outcome.PASSED}
    assert failed == failing
    assert failed | set(expected["pass"]) == {check.id for check in sdpa.checks}
    assert run.score == sdpa.points - len(failing)
    named = {check.misconception for check in run.checks if check.misconception}
    assert named == ({NAMED[name]} if name in NAMED else set())


@pytest.mark.parametrize(
    ("name", "line", "error_type"),
    [
        ("89-mixed-tabs-and-spaces", 13, "TabError"),
        ("97-sys-exit-at-import", 19, "SystemExit"),
        ("103-relative-file-read", 2, "FileNotFoundError"),
    ],
)
def test_a_file_that_cannot_be_loaded_says_where_and_why(
    name, line, error_type, shared, sdpa, sandbox
):
    code = (shared / "cases" / name / "submission.py").read_bytes()
    run = grade(sdpa, Submission(files={"submission.py": code}), sandbox, seed=7)
    facts = run.checks[0].finding.facts
    assert {check.outcome for check in run.checks} == {Outcome.LOAD_ERROR}
    assert (facts["error_type"], facts["file"]) == (error_type, "submission.py")
    assert facts["line"] == line
