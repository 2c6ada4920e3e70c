"""How a student's function gets its arguments: by position, or by the names that are stated for
them. In the child."""

import inspect
from collections.abc import Callable, Sequence

_TAKES_NAMES = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def called(
    function: Callable[..., object], arguments: Sequence[object], names: list[str]
) -> object:
    """What ``function`` gives: by name where it has a parameter of each of ``names``, in whatever
    order, and needs no other; by position otherwise, and where there are no names."""
    if names and _has_parameters(function, names):
        return function(**dict(zip(names, arguments, strict=True)))
    return function(*arguments)


def _has_parameters(function: Callable[..., object], names: list[str]) -> bool:
    try:
        stated = inspect.signature(function).parameters
        # As it is, not as functools.wraps says it is: a wrapper may take positions alone.
        inspect.signature(function, follow_wrapped=False).bind(**dict.fromkeys(names))
    except Exception:  # noqa: BLE001 - some callables have none, and the student's may say anything
        return False
    return all(name in stated and stated[name].kind in _TAKES_NAMES for name in names)
