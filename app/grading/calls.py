"""All calls that one run makes on the student's code, by key."""

from collections.abc import Mapping

from app.domain.problem import CodeProblem
from app.grading.cases import GIVEN, Case
from app.grading.trial import Key
from app.sandbox.job import Call, Function

Calls = dict[Key, Call]


def call(
    case: Case,
    arguments: Mapping[str, object] | None = None,
    *,
    file: str | None = None,
    fork: str = "",
    echo: bool = False,
) -> Call:
    """One call of the case's entry, with its own arguments or others.

    They stand in positional order: parameters may be named as one likes, and ordered too where the
    entry says so. ``file`` is where the student's functions come from; None means as the case says.
    A procedure gets them first.
    """
    file = file or case.file
    values = tuple((case.arguments if arguments is None else arguments).values())
    if not case.entry.uses:
        names = tuple(case.arguments) if case.entry.call_by == "name" else ()
        return Call(case.call, values, file=file, fork=fork, echo=echo, names=names)
    used = tuple(Function(name, file) for name in case.entry.uses)
    return Call(case.call, (*used, *values), file=GIVEN, fork=fork, echo=echo)


def files_with_given(problem: CodeProblem, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """``files`` with what the problem adds to them. Student files are loaded first."""
    return {**files, GIVEN: problem.given.encode()} if problem.given else dict(files)
