"""Broken problem files: each says in a comment, on the line to be told, what is to be told.

Nothing that such a file contains, however hostile, is more than a message.
"""

from pathlib import Path

import pytest

from app.cli.check import check_file

FILES = sorted((Path(__file__).resolve().parents[1] / "broken_problems").glob("*.yaml"))
MARK = "  # expect: "


def expected(path: Path) -> tuple[int, str]:
    """The line that carries the comment, and what stands in it."""
    lines = path.read_text(encoding="utf-8").splitlines()
    ((number, line),) = [(n, text) for n, text in enumerate(lines, start=1) if MARK in text]
    return number, line.partition(MARK)[2]


def test_there_are_more_than_a_dozen():
    assert len(FILES) > 12


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_broken_file_is_told_at_its_line(path, sandbox):
    line, message = expected(path)
    checked = check_file(path, sandbox, seeds=1)
    assert not checked.ok
    told = [(place.line, place.message) for place in checked.errors]
    assert any(at == line and message in text for at, text in told), told
