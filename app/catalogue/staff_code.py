"""What a block of code in a problem file defines, without running it.

Staff wrote these texts, so reading them here is safe; a student's are read in the sandbox only.
"""

import ast


def defined_names(code: str) -> set[str]:
    """The functions and classes that a block defines; none if it is not Python."""
    return {node.name for node in _body(code) if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def parameters_of(code: str, function: str) -> tuple[str, ...]:
    """The names of the parameters of a function in a block; () if it is not there."""
    for node in _body(code):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            return tuple(argument.arg for argument in node.args.args)
    return ()


def _body(code: str) -> list[ast.stmt]:
    try:
        return ast.parse(code).body
    except (SyntaxError, ValueError):
        return []
