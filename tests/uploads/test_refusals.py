"""Whoever sends something that cannot be taken in is told so in English and in Chinese."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.errors import UnreadableSubmission
from app.uploads.read import read_files

APP = Path(__file__).resolve().parents[2] / "app"
SOURCES = [
    *sorted((APP / "uploads").glob("*.py")),
    APP / "domain/answers.py",
    APP / "domain/expressions.py",
    APP / "cli/arguments.py",
]
ERRORS = {
    "UnreadableSubmission",
    "SubmissionTooLarge",
    "ExpressionError",
    "_Unreadable",
    "_Complaint",
}


def sentences(source: Path) -> Iterator[ast.Call]:
    """Every place where an error of these is made."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ERRORS
        ):
            yield node


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_no_refusal_lacks_its_chinese_sentence(source):
    lacking = [
        call.lineno
        for call in sentences(source)
        if len(call.args) < 2 and not any(isinstance(arg, ast.Starred) for arg in call.args)
    ]
    assert lacking == []


def test_there_are_refusals_to_look_at():
    assert sum(1 for source in SOURCES for _ in sentences(source)) > 70


@pytest.mark.parametrize(
    ("files", "chinese"),
    [
        ({"a.txt": b"x"}, "'a.txt' 两者都不是"),
        ({".a.py": b"x"}, "有文件名为 '.a.py'"),
        ({"a.zip": b"x"}, "a.zip 已损坏，或不是 zip 压缩包：请重新打包"),
        ({"a.ipynb": b"{"}, "a.ipynb 第 1 行第 2 列不是 JSON"),
        ({"a.ipynb": b'{"cells": [5]}'}, "a.ipynb 是损坏的笔记本：cells[0] 中有 5"),
    ],
)
def test_an_upload_is_refused_in_chinese_too(files, chinese, shipped):
    problem = shipped["s33-masked-attention"].problem
    with pytest.raises(UnreadableSubmission) as refusal:
        read_files(problem, files)
    assert chinese in refusal.value.told("zh")
