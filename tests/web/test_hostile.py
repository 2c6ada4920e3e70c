"""Text that lies: markup, and characters that hide or turn what follows."""

import json

import pytest

from app.domain.run import Remark
from app.web.code import code_file, code_files, style_sheet
from app.web.hostile import shown
from tests.web.conftest import a_result

SCRIPT = "<script>alert(1)</script>"


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("a & <b>", "a &amp; &lt;b&gt;"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("带 mask 的注意力 é 😀", "带 mask 的注意力 é 😀"),
        ("\u202e", '<span class="strange">U+202E</span>'),
        ("\x1b[31m", '<span class="strange">U+001B</span>[31m'),
        ("a\u200bb", 'a<span class="strange">U+200B</span>b'),
        ("\ud800", '<span class="strange">U+D800</span>'),
        ("\U000e0041", '<span class="strange">U+E0041</span>'),
    ],
)
def test_text_is_shown_with_every_character_of_it(text, markup):
    assert shown(text) == markup


def test_code_is_escaped_and_keeps_the_numbers_of_its_lines():
    file = code_file(0, "a.py", f"\n\n# {SCRIPT} \u202e\n\n".encode())
    assert SCRIPT not in file.lines
    assert "U+202E" in file.lines
    assert 'id="file-0-3"' in file.lines
    assert file.anchor(3) == "file-0-3"


def test_code_that_is_not_utf8_is_shown_all_the_same():
    assert "\ufffd" in code_file(0, "a.py", b"# caf\xe9").lines


def test_a_long_file_is_cut_and_says_so():
    file = code_file(0, "a.txt", b"x = 1\n" * 50_000)
    assert file.cut
    assert "file-0-40000" not in file.lines


def test_the_colours_of_code_reach_nothing_but_code():
    for line in style_sheet().splitlines():
        rule = line.removeprefix(":root[data-theme=dark] ")
        rule = rule.removeprefix(":root:not([data-theme=light]) ")
        assert rule.startswith(".code") or rule in ("}", "@media (prefers-color-scheme: dark) {")


def test_nothing_that_a_student_writes_becomes_markup(browse, grade):
    result = a_result(printed=f"{SCRIPT}\u202e\x1b")
    name = "<img src=x onerror=alert(1)>.py"
    submission_id = grade(result, **{name.replace(".", "_"): SCRIPT.encode()})
    for who in ("student", "ta"):
        page = browse(who).get(f"/submissions/{submission_id}").text
        assert SCRIPT not in page
        assert "<img" not in page
        assert "&lt;img src=x" in page
        assert "\u202e" not in page
        assert "\x1b" not in page


def notebook(*cells: str) -> bytes:
    made = [{"cell_type": "code", "source": cell, "outputs": ["x" * 500]} for cell in cells]
    return json.dumps({"cells": [{"cell_type": "markdown"}, *made]}).encode()


def test_a_notebook_is_shown_as_its_code_cells_without_what_they_gave():
    file = code_file(2, "hw.ipynb", notebook("import numpy", " ", f"\n# {SCRIPT}\u202e\ud800"))
    assert [cell.number for cell in file.cells] == [1, 2]
    assert 'id="file-2-cell-2-2"' in file.cells[1].lines
    assert SCRIPT not in file.cells[1].lines
    assert "U+202E" in file.cells[1].lines
    assert "U+D800" in file.cells[1].lines
    assert "xxx" not in "".join(cell.lines for cell in file.cells)
    assert (file.lines, file.cut, file.anchor(2, 2)) == ("", False, "file-2-cell-2-2")


def test_of_a_long_notebook_the_beginning_is_shown_and_its_outputs_take_no_room():
    cells = ["x = 1\n" * 20_000] * 3
    files = code_files({"hw.ipynb": notebook(*cells), "a.py": b"x"})
    assert [cell.number for cell in files[0].cells] == [1, 2]
    assert [file.cut for file in files] == [True, True]
    small = code_files({"hw.ipynb": notebook(*["x"] * 500), "a.py": b"x"})
    assert [file.cut for file in small] == [False, False]


def test_what_is_no_notebook_is_shown_as_text():
    file = code_file(0, "hw.ipynb", f'{{"cells": "{SCRIPT}"}}'.encode())
    assert file.cells == ()
    assert "cells" in file.lines
    assert SCRIPT not in file.lines


def test_a_remark_cannot_be_markup(browse, grade):
    remark = Remark(kind="left_out", file="hw.ipynb", cell=1, line=1, text=f"!{SCRIPT}\u202e")
    submission_id = grade(a_result(remarks=(remark,)), hw_ipynb=notebook(f"!{SCRIPT}"))
    page = browse("student").get(f"/submissions/{submission_id}").text
    assert SCRIPT not in page
    assert "U+202E" in page


def test_all_files_together_are_no_longer_than_one_may_be():
    line = "x = 1\n"
    files = code_files(
        {
            "a.py": line.encode() * 30_000,
            "table.csv": b"1,2\n" * 30_000,
            "pkg/b.py": line.encode() * 30_000,
            "pkg/c.py": line.encode(),
            "weights.npy": b"\x93NUMPY\0",
            "empty.py": b"",
        }
    )
    shown = [(bool(file.lines), file.cut, file.binary) for file in files]
    assert shown == [
        (True, False, False),
        (True, True, False),
        (True, True, False),
        (False, True, False),
        (False, False, True),
        (False, False, False),
    ]
    assert "file-2-3000" in files[2].lines
    assert "file-2-4000" not in files[2].lines


def test_code_is_shown_in_the_encoding_that_it_declares_if_that_is_a_common_one():
    written = "# coding: gbk\n# 注意力\n".encode("gbk")
    assert "注意力" in code_file(0, "a.py", written).lines
    rotated = code_file(0, "a.py", b"# -*- coding: rot13 -*-\n# nggragvba\n").lines
    assert "nggragvba" in rotated
