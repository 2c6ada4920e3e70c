"""Finds forbidden names and imports in source texts. Runs in the sandbox: it parses student code.

Standard library only; the texts are read, never run.
"""

import ast
from collections.abc import Iterator, Sequence

NAME, IMPORT, UNREADABLE = range(3)
"""What a finding is about."""


def forbidden(
    sources: Sequence[bytes], names: Sequence[str], imports: Sequence[str]
) -> list[list[int]]:
    """Rows (file, line, kind, position of the rule in ``names`` or ``imports``), first line first.

    ``names`` are dotted paths such as ``torch.softmax``, seen through ``import torch as t``, or
    single words: a method, an imported function or a builtin of that name. ``imports`` are modules.
    """
    found: list[list[int]] = []
    for number, source in enumerate(sources):
        try:
            tree = ast.parse(bytes(source))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            found.append([number, getattr(error, "lineno", None) or 1, UNREADABLE, 0])
            continue
        rows = {(number, line, kind, rule) for line, kind, rule in _broken(tree, names, imports)}
        found.extend(list(row) for row in sorted(rows))
    return found


def _broken(
    tree: ast.AST, names: Sequence[str], imports: Sequence[str]
) -> Iterator[tuple[int, int, int]]:
    aliases = {alias: path for _, alias, path in _imported(tree)}
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for line, _, path in _imported(tree):
        for rule, module in enumerate(imports):
            if path == module or path.startswith(f"{module}."):
                yield line, IMPORT, rule
    for node in ast.walk(tree):
        path = _path(node, aliases)
        for rule, name in enumerate(names):
            if path and _is(path, name, own):
                yield getattr(node, "lineno", 1), NAME, rule


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
