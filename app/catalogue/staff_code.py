"""What a block of code in a problem file defines, without running it.

Staff wrote these texts, so reading them here is safe; a student's are read in the sandbox only.
"""

import ast
import unicodedata
from collections.abc import Iterator
from keyword import iskeyword

from app.catalogue.known import At, Found

_NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
"""The last two of a text that is nested too deeply."""


def is_name(text: str) -> bool:
    """Whether a definition in Python can have this name, and keeps it: it would turn ``ﬁ`` into
    ``fi``."""
    composed = unicodedata.normalize("NFKC", text)
    return text.isidentifier() and not iskeyword(text) and composed == text


def defined_names(code: str) -> set[str]:
    """The functions and classes that a block defines; none if it is not Python."""
    return {node.name for node in _body(code) if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def parameters_of(code: str, function: str) -> tuple[str, ...]:
    """The names of the parameters of a function in a block; () if it is not there."""
    for node in _body(code):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            return tuple(argument.arg for argument in node.args.args)
    return ()


def python_findings(at: At, code: str | None) -> Iterator[Found]:
    """A finding if a block of code is not Python."""
    try:
        ast.parse(code or "")
    except _NOT_PYTHON as error:
        line = getattr(error, "lineno", None)
        where = f" in its line {line}" if line else ""
        reason = getattr(error, "msg", str(error)) or "it is nested too deeply"
        yield at, f"this is not Python{where}: {reason}"


def _body(code: str) -> list[ast.stmt]:
    try:
        return ast.parse(code).body
    except _NOT_PYTHON:
        return []
