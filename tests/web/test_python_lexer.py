"""The colours of Python, whatever a file holds."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web.python_lexer import LinearPythonLexer

ROOT = Path(__file__).parents[2]


def pieces(text: str) -> list[tuple[str, str]]:
    lexer = LinearPythonLexer(stripnl=False, ensurenl=False)
    return [(str(kind).rpartition(".")[2], value) for kind, value in lexer.get_tokens(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("return x", [("Keyword", "return"), ("Name", "x")]),
        ("returned", [("Name", "returned")]),
        ("def f():", [("Keyword", "def"), ("Function", "f"), ("Punctuation", "(")]),
        ("class A:", [("Keyword", "class"), ("Class", "A"), ("Punctuation", ":")]),
        ("sum(x.sum)", [("Builtin", "sum"), ("Punctuation", "("), ("Name", "x")]),
        ("1_0.5e-3j-2", [("Number", "1_0.5e-3j"), ("Operator", "-"), ("Number", "2")]),
        ("'a\\'b' # 'c\nd", [("String", "'a\\'b'"), ("Single", "# 'c"), ("Name", "d")]),
        ('rb"\\"" "', [("String", 'rb"\\""'), ("String", '"')]),
        ('"""a\n""b\\"""c"""d', [("String", '"""a\n""b\\"""c"""'), ("Name", "d")]),
        ("'a\nb", [("String", "'a"), ("Name", "b")]),
        ("'''a\nb", [("String", "'''a\nb")]),
        ("x @ y", [("Name", "x"), ("Operator", "@"), ("Name", "y")]),
    ],
)
def test_python_is_told_apart_from_its_texts_and_comments(text, expected):
    found = [piece for piece in pieces(text) if piece[0] != "Whitespace"]
    assert found[: len(expected)] == expected


@given(st.text(st.sampled_from("ab_0.eE+- \t\n\f'\"\\#@(){}%:é\u2028\ud800\U0001f600")))
def test_no_character_is_lost_or_changed(text):
    assert "".join(value for _, value in pieces(text)) == text


LONG = {
    "blank lines": " \n" * 100_000,
    "a field width": '"%' + "0" * 199_998,
    "a soft keyword": "match" + " " * 199_994 + "x",
    "named characters": '"' + r"\N{" * 66_666,
    "fields in fields": '"' + "{a[" * 66_666,
    "digits": "1_" * 100_000,
    "a name": "a" * 200_000,
    "a definition of nothing": "def" + " " * 199_997,
    "quotes": "'" * 199_999,
    "texts that do not end": "'''\"\\" * 40_000,
    "brackets": "(" * 200_000,
}


def test_the_time_for_a_file_grows_with_its_length_alone():
    script = (
        "from app.web.code import code_file\n"
        "from tests.web.test_python_lexer import LONG\n"
        "for text in LONG.values():\n"
        "    print(len(code_file(0, 'a.py', text.encode()).lines) > 190_000)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (20, 20)),
    )
    assert done.stdout.split() == ["True"] * len(LONG), done.returncode
