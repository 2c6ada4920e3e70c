"""Finds forbidden names and imports in source texts. Runs in the sandbox: it parses student code.

Standard library only; the texts are read, never run.
"""

import ast
import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

NAME, IMPORT, UNREADABLE = range(3)
"""What a finding is about."""


ReadCells = Callable[[bytes], tuple[Sequence[Any], bool]]
"""``sandbox.notebook.read_cells``: the cells of a notebook."""


def forbidden(
    sources: Sequence[tuple[bytes, ReadCells | None]], names: Sequence[str], imports: Sequence[str]
) -> list[list[int]]:
    """Rows (file, cell, line, kind, position of the rule in ``names`` or ``imports``), first line
    first; the cell is 0 in a file that is no notebook.

    A source is a file's text and what reads its cells, if it is a notebook. ``names`` are dotted
    paths such as ``torch.softmax``, seen through ``import torch as t``, or single words: a method,
    an imported function or a builtin of that name. ``imports`` are modules.
    """
    found: list[list[int]] = []
    for number, (source, read_cells) in enumerate(sources):
        try:
            trees = _cells(source, read_cells) if read_cells else {0: ast.parse(bytes(source))}
            rows = {(number, *row) for row in _broken(_running(trees), names, imports)}
        except _UNREADABLE as error:
            found.append([number, 0, getattr(error, "lineno", None) or 1, UNREADABLE, 0])
            continue
        found.extend(list(row) for row in sorted(rows))
    return found


_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def _cells(source: bytes, read_cells: ReadCells) -> dict[int, ast.Module]:
    """The cells by number, without those that are not Python: they do not run either. Of one that
    is too much for this process nobody knows."""
    trees = {}
    for cell in read_cells(bytes(source))[0]:
        with contextlib.suppress(SyntaxError, ValueError):
            trees[cell.number] = ast.parse(cell.python)
    return trees


def _running(trees: dict[int, ast.Module]) -> dict[int, ast.Module]:
    """The module without what stands under ``if __name__ == "__main__"``, which never runs here:
    checks of the student's own. With it if the name is set anywhere."""
    if any(_sets_name(node) for tree in trees.values() for node in ast.walk(tree)):
        return trees
    return {cell: ast.Module(list(_statements(tree)), []) for cell, tree in trees.items()}


def _sets_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "__name__" and type(node.ctx) is not ast.Load


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    for statement in tree.body:
        if isinstance(statement, ast.If) and _asks_for_main(statement.test):
            yield from statement.orelse
        else:
            yield statement


def _asks_for_main(test: ast.expr) -> bool:
    match test:
        case ast.Compare(ast.Name("__name__"), [ast.Eq()], [ast.Constant("__main__")]):
            return True
        case ast.Compare(ast.Constant("__main__"), [ast.Eq()], [ast.Name("__name__")]):
            return True
    return False


def _broken(
    trees: dict[int, ast.Module], names: Sequence[str], imports: Sequence[str]
) -> Iterator[tuple[int, int, int, int]]:
    """Rows (cell, line, kind, rule) of one module, whose parts see each other's names."""
    imported = [(cell, *each) for cell, tree in trees.items() for each in _imported(tree)]
    nodes = [(cell, node) for cell, tree in trees.items() for node in ast.walk(tree)]
    aliases = {alias: path for _, _, alias, path in imported}
    own = {node.name for _, node in nodes if isinstance(node, ast.FunctionDef)}
    for cell, line, _, path in imported:
        for rule, module in enumerate(imports):
            if path == module or path.startswith(f"{module}."):
                yield cell, line, IMPORT, rule
    for cell, node in nodes:
        path = _path(node, aliases)
        for rule, name in enumerate(names):
            if path and _is(path, name, own):
                yield cell, getattr(node, "lineno", 1), NAME, rule


def _is(path: str, name: str, own: set[str]) -> bool:
    if "." in name or path == name:
        return path == name and name not in own
    return path.endswith(f".{name}")


def _imported(tree: ast.AST) -> Iterator[tuple[int, str, str]]:
    """Every import as (line, the name that it binds, the full path behind that name)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                yield node.lineno, bound, alias.name if alias.asname else bound
                if not alias.asname and "." in alias.name:
                    yield node.lineno, alias.name, alias.name
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                module = "." * node.level + (node.module or "")
                yield node.lineno, alias.asname or alias.name, f"{module}.{alias.name}"


def _path(node: ast.AST, aliases: dict[str, str]) -> str:
    """The dotted path that a name or an attribute stands for; "" for anything else."""
    if isinstance(node, ast.Name):
        return aliases.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        return f"{_path(node.value, aliases) or '?'}.{node.attr}"
    return ""
