"""A Jupyter notebook as Python text, cell by cell, without what only Jupyter understands.

In the child, which reads what was checked outside already. Standard library alone and none of our
files: its text also serves as a file of a job that looks at code without running it.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

TAG = "grade"
"""If any cell has this tag, only those that have it are read."""

_BODY_IS_PYTHON = frozenset({"time", "timeit", "capture", "prun"})
"""Cell magics that run their body in the notebook; the others' bodies are something else."""


@dataclass(frozen=True)
class LeftOut:
    """A command of Jupyter's that is not run: a magic, a shell line, a question for help."""

    line: int
    text: str
    takes_cell: bool = False  # the rest of the cell is left out with it


@dataclass(frozen=True)
class Cell:
    """A code cell. ``number`` counts from 1 those that hold anything, whatever their tags;
    ``python`` has the lines of the cell at their places, commands blank."""

    number: int
    python: str
    left_out: tuple[LeftOut, ...]


def read_cells(data: bytes) -> tuple[list[Cell], bool]:
    """The code cells to run, and whether others were passed over for want of the tag.

    Raises ValueError, TypeError, KeyError or AttributeError for what is no notebook.
    """
    cells = json.loads(data.decode("utf-8-sig"))["cells"] if data.strip() else []
    code = [cell for cell in cells if cell["cell_type"] == "code" and _text(cell).strip()]
    tagged = any(map(_is_tagged, code))
    taken = [
        _cell(number, _text(cell))
        for number, cell in enumerate(code, start=1)
        if not tagged or _is_tagged(cell)
    ]
    return taken, len(taken) < len(code)


def _text(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def _is_tagged(cell: dict[str, Any]) -> bool:
    tags = cell.get("metadata", {}).get("tags")
    return isinstance(tags, list) and TAG in tags


def _cell(number: int, text: str) -> Cell:
    text = _without_indent(text.replace("\r\n", "\n").replace("\r", "\n"))
    left_out: list[LeftOut] = []
    python: list[str] = []
    line = 1
    for piece, kept in _pieces(text):
        if kept != piece:
            above = piece[: len(piece) - len(piece.lstrip())].count("\n")
            left_out.append(LeftOut(line + above, " ".join(piece.split()), kept is None))
        python.append(kept or "")
        line += piece.count("\n")
    return Cell(number, "".join(python), tuple(left_out))


def _without_indent(text: str) -> str:
    """Jupyter runs a cell that is indented as a whole."""
    found = re.match(r"(?:[ \t]*\n)*([ \t]+)", text)
    return re.sub(f"(?m)^{found[1]}", "", text) if found else text


# What Jupyter understands and Python does not

_CELL_MAGIC = re.compile(r"(?:[ \t]*\n)*%%(?P<name>\w*)[^\n]*")
_COMMAND = re.compile(r"(?P<indent>[ \t]*)[%!?](?:\\\n|[^\n])*")
_TIMED = re.compile(r"%time[ \t]+(?=[^\s-])")
_REST = re.compile(r"(?:\\\n|[^\n])*")
# After each star all is optional, so that nothing is tried twice. Possessive stars would say so,
# but the first versions of Python 3.11 match them wrongly.
_TOKEN = re.compile(
    r"""
      '''(?:[^'\\]+|\\(?:.|\Z)|'(?!''))*(?:''')?
    | \"""(?:[^"\\]+|\\(?:.|\Z)|"(?!""))*(?:\""")?
    | '(?:[^'\\\n]+|\\(?:.|\Z))*'?
    | "(?:[^"\\\n]+|\\(?:.|\Z))*"?
    | \#[^\n]*
    | \\\n
    | (?P<open>[(\[{])
    | (?P<close>[)\]}])
    | (?P<end>\n)
    | (?P<help>\?[ \t]*(?=\n|\Z))
    | (?P<assigned>(?<![=!<>:+\-*/%&|^@])=[ \t]*[%!](?!=))
    | [^'"#\\()\[\]{}\n?=]+
    | .
    """,
    re.VERBOSE | re.DOTALL,
)


def _pieces(text: str) -> Iterator[tuple[str, str | None]]:
    """The text in pieces, each with what stays of it in as many lines; None for a magic that takes
    the rest of the cell with it."""
    at = 0
    while found := _CELL_MAGIC.match(text, at):
        if found["name"] not in _BODY_IS_PYTHON:
            yield found[0], None
            return
        yield found[0], _blank(found[0])
        at = found.end()
    while at < len(text):
        end, is_command = _logical_line(text, at)
        line = text[at:end]
        yield from _command(line) if is_command else [(line, line)]
        at = end


def _logical_line(text: str, start: int) -> tuple[int, bool]:
    """Where the logical line that begins at ``start`` ends, and whether it is a command. Those
    are told apart only where a line begins: elsewhere a % is arithmetic or a text."""
    if found := _COMMAND.match(text, start):
        return found.end(), True
    at, depth = start, 0
    while found := _TOKEN.match(text, at):
        at = found.end()
        kind = found.lastgroup
        depth = max(0, depth + (kind == "open") - (kind == "close"))
        if depth or kind in (None, "open", "close"):
            continue
        if kind == "assigned":
            rest = _REST.match(text, at)
            return rest.end() if rest else at, True
        return at, kind == "help"
    return at, False


def _command(line: str) -> Iterator[tuple[str, str]]:
    command = line.lstrip(" \t")
    indent = line[: len(line) - len(command)]
    yield indent, indent
    if timed := _TIMED.match(command):
        yield timed[0], ""
        yield command[timed.end() :], command[timed.end() :]  # it runs in the notebook
    else:
        # In a block a statement has to stay, or the block might be empty.
        yield command, ("pass" if indent else "") + _blank(command)


def _blank(piece: str) -> str:
    return "\n" * piece.count("\n")
