"""All calls that one run makes on the student's code, by key."""

from collections.abc import Mapping

from app.grading.trial import Key
from app.sandbox.job import Call

Calls = dict[Key, Call]


def call(
    entry: str,
    arguments: Mapping[str, object],
    *,
    file: str | None = None,
    fork: str = "",
    echo: bool = False,
) -> Call:
    """One call with the arguments in positional order: parameters may be named as one likes."""
    return Call(entry, tuple(arguments.values()), file=file, fork=fork, echo=echo)
