"""Everything that goes into the sandbox and everything that may come out, as values.

No part of this knows what a problem is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from app.domain.outcome import Outcome
from app.domain.run import Remark
from app.sandbox.wire import Function

__all__ = ["Answer", "Call", "Failure", "Function", "Job", "Limits", "Value"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one job may use. ``wall_s`` is for the whole job, ``case_s`` for one call."""

    wall_s: float = 10.0
    case_s: float = 2.0
    memory_mb: int = 512
    output_mb: int = 64  # all arrays of one answer together
    stdout_kb: int = 64  # printed text kept, per call


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a function that the job's files define.

    An argument is None, a number, a text, an array, a ``Function``, or a container of such. They
    are passed by position; with ``names``, one for each, by name to a function that has parameters
    of these names.

    ``file`` names the file whose ``entry`` is called; None takes the first file, in the job's
    order, that defines it. Calls with different ``fork`` names never share a process. With
    ``echo`` the arguments come back as they stand after the call.
    """

    entry: str
    arguments: tuple[object, ...]
    file: str | None = None
    fork: str = ""
    echo: bool = False
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """One submission and the calls to make on it.

    ``files`` are loaded once per process, in order, as modules that are not ``__main__``; their
    directory is the working directory. ``seed`` sets the global generators after the fork.
    ``given`` names the one of them that is not the student's: no failure is placed in it.
    """

    files: Mapping[str, bytes]
    calls: tuple[Call, ...]
    seed: int
    limits: Limits = field(default_factory=Limits)
    given: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """One array that came out, at ``path`` in the returned object: () the object itself,
    (1,) the second member of a tuple, ("Z",) the member Z of a dict."""

    path: tuple[str | int, ...]
    array: NDArray[np.generic]
    source: Literal["array", "tensor", "list", "number"]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call gave no values. The student's failure, so a value.

    ``detail`` is the student's own text (an exception's, cut at 2,000 characters), or the name
    of the type that could not be taken; ``file`` and ``line`` point into the student's files, in a
    notebook with the ``cell``;
    ``limit`` is the exceeded limit with its unit, as in "2 s"; ``signal`` the number of the
    signal that ended the process; ``in_given`` says that no line of the student's was running, but
    one of the file that the job calls ``given``.
    """

    outcome: Outcome
    detail: str = ""
    error_type: str = ""
    file: str = ""
    cell: int | None = None
    line: int | None = None
    limit: str = ""
    signal: int | None = None
    exit_code: int | None = None
    in_given: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call gave: values, or a failure. Never both.

    The first call's also holds what loading printed and its remarks.
    """

    values: tuple[Value, ...] = ()
    failure: Failure | None = None
    arguments_after: tuple[Value, ...] = ()  # with ``Call.echo``: paths begin with the position
    stdout: str = ""  # printed during this call
    remarks: tuple[Remark, ...] = ()
    seconds: float = 0.0
