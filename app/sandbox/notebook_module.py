"""A notebook as one module: its cells run in order, and one that fails loses no other. In the
child."""

import __future__

import ast
import builtins
import linecache
import traceback
from functools import reduce
from operator import or_
from types import ModuleType
from typing import Any

from .failures import cell_path, in_short
from .notebook import Cell, read_cells
from .wire import MAX_KEY, MAX_REMARKS, RemarkHeader

_FEATURES = reduce(or_, (vars(__future__)[f].compiler_flag for f in __future__.all_feature_names))
"""The flags of what ``from __future__ import`` may name."""


def run_notebook(module: ModuleType, name: str, data: bytes) -> list[RemarkHeader]:
    """Run the notebook ``name`` in ``module``, whose ``__file__`` is set; what was left out of it
    and what failed.

    Raises what ``read_cells`` raises. Nothing that a cell raises comes out, be it SystemExit.
    """
    cells, passed_over = read_cells(data)
    # Not in the module itself, where it could be taken for a function of the student's.
    vars(module)["__builtins__"] = {**vars(builtins), "display": _display}
    run = _Run(module, name)
    if passed_over:
        run.remarks.append(RemarkHeader("only_tagged", name))
    for cell in cells:
        run.cell(cell)
    return run.remarks


def _display(*objects: object, **_: object) -> None:
    """What Jupyter shows below a cell, as text."""
    print(*objects, sep="\n")


class _Run:
    """The cells that ran so far: ``features`` are the flags of the ``from __future__`` among
    them, which hold in the cells below too, as in Jupyter."""

    def __init__(self, module: ModuleType, name: str) -> None:
        self.remarks: list[RemarkHeader] = []
        self._module = module
        self._path = str(module.__file__)  # a cell may change it
        self._name = name
        self._features = 0

    def cell(self, cell: Cell) -> None:
        """Run a cell statement by statement, and go on after one that fails: an import of what is
        not there must not keep the imports below it from running."""
        for each in cell.left_out:
            kind = "cell_left_out" if each.takes_cell else "left_out"
            self._remark(kind, cell.number, each.line, each.text)
        path = cell_path(self._path, cell.number)
        for statement in self._statements(cell, path):
            self._statement(statement, cell.number, path)

    def _statements(self, cell: Cell, path: str) -> list[ast.stmt]:
        lines = [f"{line}\n" for line in cell.python.split("\n")]
        linecache.cache[path] = (len(cell.python), None, lines, path)  # tracebacks, inspect
        try:
            tree = ast.parse(cell.python, path)
            code = compile(tree, path, "exec", self._features, dont_inherit=True)
        except BaseException as error:  # noqa: BLE001 - a hostile text exhausts the parser
            line = error.lineno if isinstance(error, SyntaxError) else None
            self._remark("cell_failed", cell.number, line or None, in_short(error))
            return []
        self._features |= code.co_flags & _FEATURES
        return tree.body

    def _statement(self, statement: ast.stmt, number: int, path: str) -> None:
        alone = ast.Module([statement], type_ignores=[])
        try:
            code = compile(alone, path, "exec", self._features, dont_inherit=True)
            exec(code, vars(self._module))  # noqa: S102 - what this process is for
        except BaseException as error:  # noqa: BLE001 - SystemExit too is the student's
            line = _line(error, path, statement)
            self._remark("statement_failed", number, line, in_short(error))

    def _remark(self, kind: Any, number: int, line: int | None, text: str) -> None:
        self.remarks.append(RemarkHeader(kind, self._name, number, line, _cut(text)))


def _line(error: BaseException, path: str, statement: ast.stmt) -> int:
    """Where in the cell the statement failed; the function that it called may stand elsewhere."""
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == path and frame.f_code.co_name == "<module>":
            return line
    return statement.lineno


def _cut(text: str) -> str:
    short = text if len(text) <= MAX_KEY else text[: MAX_KEY - 1] + "…"
    return short.encode("utf-8", "replace").decode()


def shortened(remarks: list[RemarkHeader]) -> list[RemarkHeader]:
    """As many as may be sent, failures rather than what was left out, and how many more."""
    if len(remarks) <= MAX_REMARKS:
        return remarks
    failures_first = sorted(range(len(remarks)), key=lambda n: "left_out" in remarks[n].kind)
    kept = [remarks[n] for n in sorted(failures_first[: MAX_REMARKS - 1])]
    return [*kept, RemarkHeader("more", kept[0].file, text=str(len(remarks) - len(kept)))]
