"""Notebooks over HTTP: graded with remarks that stay, or refused at no cost."""

import json

import pytest

from tests.api.conftest import PROBLEM, Send
from tests.conftest import Ask

PATH = f"/api/v1/problems/{PROBLEM}/submissions"


def notebook(*cells: str) -> bytes:
    made = [{"cell_type": "code", "metadata": {}, "source": cell} for cell in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made}).encode()


@pytest.mark.usefixtures("worker")
def test_a_notebook_is_graded_and_its_remarks_come_again_with_every_report(
    ask: Ask, send: Send, right: bytes
) -> None:
    student = ask("student")
    book = notebook("%matplotlib inline\nimport heldout", right.decode(), "!ls")
    answer = send(student, "hw.ipynb", code=book, wait=60)
    report = answer.json()
    assert report["score"] == 10
    assert [(r["kind"], r["cell"], r["line"]) for r in report["remarks"]] == [
        ("left_out", 1, 1),
        ("statement_failed", 1, 2),
        ("left_out", 3, 1),
    ]
    path = f"/api/v1/submissions/{report['id']}"
    chinese = student.get(path, headers={"Accept-Language": "zh"}).json()["remarks"]
    assert chinese[2]["message"] == "hw.ipynb 第 3 个单元格第 1 行：!ls 是 Jupyter 命令，已略过"
    text = student.get(path, headers={"Accept": "text/plain"}).text
    assert "  hw.ipynb, cell 3, line 1: !ls is a command of Jupyter and was left out" in text


@pytest.mark.parametrize(
    ("data", "status", "word"),
    [
        (b"{}", 422, "hw.ipynb is no notebook"),
        (b"[" * 100_000, 422, "not JSON that can be read"),
        (b'{"worksheets": []}', 422, "an old format (3)"),
        (notebook(*["x"] * 1001), 413, "1001 cells"),
        (notebook("#" * 5_242_880), 413, "without its outputs"),
        (notebook("#" * 6_000_000), 413, "outputs are cleared"),
    ],
    ids=["object", "deep", "old", "cells", "limit", "body"],
)
def test_what_cannot_be_taken_is_refused_in_a_sentence_and_costs_no_attempt(
    data: bytes, status: int, word: str, ask: Ask, send: Send
) -> None:
    student = ask("student")
    answer = student.post(PATH, files={"file": ("hw.ipynb", data)})
    assert (answer.status_code, word in answer.json()["detail"]) == (status, True)
    assert answer.headers["content-type"] == "application/problem+json"
    assert send(student).json()["attempt"] == 1
