"""Submitted files as highlighted text with numbered lines that can be linked to."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath

from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers.data import JsonLexer
from pygments.lexers.special import TextLexer

from app.errors import AttestError
from app.uploads import notebook
from app.uploads.read import CODE_SUFFIXES
from app.web.hostile import mark_strange
from app.web.python_lexer import LinearPythonLexer

SHOWN_CHARACTERS, SHOWN_OF_DATA = 200_000, 20_000
LIGHT, DARK = "xcode", "github-dark"
LEXERS: dict[str, type[Lexer]] = {".py": LinearPythonLexer, ".json": JsonLexer}

DECLARATION = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
"""PEP 263."""

CODINGS = {"gbk", "gb2312", "gb18030", "big5", "latin-1", "iso-8859-1", "cp1252", "shift-jis"}
"""Text encodings of editors. A student may name any codec, and some take hours."""


@dataclass(frozen=True)
class CodeCell:
    """One code cell of a notebook; ``number`` counts as the messages about it do."""

    number: int
    lines: Markup


@dataclass(frozen=True)
class CodeFile:
    """One file as a page shows it; ``position`` counts from 0. ``lines`` is "" where there is
    nothing to show: an empty file, one that is ``binary``, or no room left; and in a notebook,
    which has ``cells`` instead.

    ``cut``: not all of it is shown. ``characters``: how many are.
    """

    position: int
    name: str
    lines: Markup
    cut: bool
    binary: bool = False
    cells: tuple[CodeCell, ...] = ()
    characters: int = 0

    def anchor(self, line: int, cell: int | None = None) -> str:
        """The id of that line, which counts from 1, on the page."""
        return f"{_anchors(self.position, cell)}-{line}"


def _anchors(position: int, cell: int | None = None) -> str:
    return f"file-{position}-cell-{cell}" if cell else f"file-{position}"


def code_files(files: Mapping[str, bytes]) -> list[CodeFile]:
    """The files as they can be shown: of code as much in all as of a single file, and of each data
    file the beginning."""
    shown: list[CodeFile] = []
    room = SHOWN_CHARACTERS
    for position, (name, data) in enumerate(files.items()):
        if PurePath(name).suffix in CODE_SUFFIXES:
            shown.append(code_file(position, name, data, room))
            room -= shown[-1].characters
        else:
            shown.append(code_file(position, name, data, SHOWN_OF_DATA))
    return shown


def code_file(position: int, name: str, data: bytes, room: int = SHOWN_CHARACTERS) -> CodeFile:
    """The file's first ``room`` characters; bytes that are no text appear as U+FFFD."""
    if b"\0" in data:
        return CodeFile(position, name, Markup(), cut=False, binary=True)
    cells = _cells(name, data) if PurePath(name).suffix == notebook.SUFFIX else None
    if cells is not None:
        return _notebook(position, name, cells, room)
    text = data.decode(_coding(data), errors="replace")
    cut = len(text) > room
    if not text[:room]:
        return CodeFile(position, name, Markup(), cut)
    lines = highlighted(text[:room], PurePath(name).suffix, _anchors(position))
    return CodeFile(position, name, lines, cut, characters=min(len(text), room))


def _coding(data: bytes) -> str:
    """The encoding that a Python file declares in its first two lines, if it is a common one."""
    for line in data.split(b"\n", 2)[:2]:
        declared = DECLARATION.match(line)
        if declared:
            name = declared[1].decode().lower().replace("_", "-")
            return name if name in CODINGS else "utf-8-sig"
    return "utf-8-sig"


def _cells(name: str, data: bytes) -> list[notebook.Cell] | None:
    """The code cells; None for what is no notebook, which is shown as text."""
    try:
        return notebook.code_cells(name, data)
    except AttestError:
        return None


def _notebook(position: int, name: str, cells: list[notebook.Cell], room: int) -> CodeFile:
    shown: list[CodeCell] = []
    characters = 0
    for cell in cells:
        if text := cell.text[: room - characters]:
            lines = highlighted(text, ".py", _anchors(position, cell.number))
            shown.append(CodeCell(cell.number, lines))
            characters += len(text)
    cut = characters < sum(len(cell.text) for cell in cells)
    return CodeFile(position, name, Markup(), cut, cells=tuple(shown), characters=characters)


@lru_cache(maxsize=128)
def highlighted(text: str, suffix: str, anchors: str | None = None) -> Markup:
    """``text`` as a table of numbered lines with the ids ``anchors``-1, …, or as a mere block."""
    # Blank lines at both ends stay: the numbers must be those of Python's messages.
    lexer = LEXERS.get(suffix, TextLexer)(stripnl=False, ensurenl=False)
    formatter = _numbered(anchors) if anchors else HtmlFormatter(cssclass="code", wrapcode=True)
    markup: str = highlight(text, lexer, formatter)
    return Markup(mark_strange(markup))  # noqa: S704 - pygments escapes what it highlights


def _numbered(anchors: str) -> "HtmlFormatter[str]":
    return HtmlFormatter(
        cssclass="code",
        linenos="table",
        anchorlinenos=True,
        lineanchors=anchors,
        linespans=f"{anchors}-line",
        wrapcode=True,
    )


@lru_cache(maxsize=1)
def style_sheet() -> str:
    """The colours of highlighted code, in both themes."""
    dark = _rules(DARK, ":root[data-theme=dark] .code")
    by_system = _rules(DARK, ":root:not([data-theme=light]) .code")
    media = f"@media (prefers-color-scheme: dark) {{\n{by_system}\n}}"
    return "\n".join([_rules(LIGHT, ".code"), dark, media]) + "\n"


def _rules(style: str, prefix: str) -> str:
    # Pygments adds rules for the whole page, which are not ours to take.
    rules: str = HtmlFormatter(style=style).get_style_defs(prefix)
    return "\n".join(rule for rule in rules.splitlines() if rule.startswith(prefix))
