"""Names that a problem file uses, held against those that exist."""

from collections.abc import Iterable, Iterator, Mapping

from app.domain.quotation import nearest

At = tuple[str | int, ...]
"""A location in the tree of a problem file."""

Found = tuple[At, str] | tuple[At, str, bool]
"""What is wrong, and where; with True the key of that value is meant."""


def meant(name: object, known: Iterable[str]) -> str:
    """``; did you mean `X`?`` or, where nothing is near, all that was expected."""
    names = list(known)
    if near := nearest(str(name), names):
        return f"; did you mean `{near}`?"
    return f"; expected one of {', '.join(names)}" if names else ""


def unknown(name: str, known: Iterable[str], what: str) -> str | None:
    """Why ``name`` is none of ``known``; None if it is one."""
    names = list(known)
    return None if name in names else f"no {what} is called `{name}`{meant(name, names)}"


def unknown_names(at: At, given: Iterable[str], known: Iterable[str], what: str) -> Iterator[Found]:
    """A finding for each of ``given`` that is not among ``known``.

    ``at`` is where ``given`` stands: a list, or a mapping whose keys are meant.
    """
    names = list(known)
    for position, name in enumerate(given):
        message = unknown(name, names, what)
        if message:
            in_keys = isinstance(given, Mapping)
            yield (*at, name if in_keys else position), message, in_keys
