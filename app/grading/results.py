"""From what came out of the sandbox to named results."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from app.domain.axes import ELLIPSIS
from app.domain.outcome import Outcome
from app.domain.problem import Parameter
from app.domain.run import Finding, Json
from app.grading.compare import Array
from app.grading.unloadable import told
from app.sandbox.job import Answer, Failure, Value


@dataclass(frozen=True)
class Results:
    """The student's arrays by name, or why there are none. Never both."""

    arrays: Mapping[str, Array]
    count: int = 0  # how many results the function gave, for a message
    failure: Failure | None = None


def bind(answer: Answer, returns: Mapping[str, Parameter]) -> Results:
    """Names the values of ``answer`` by ``returns``.

    A tuple binds in order, a dict by name, a bare value to the first name. Nested lists can be
    one array or a tuple of arrays: they are a tuple if the count fits and there are several names.
    A tuple of numbers is one vector, and one of rows a matrix, where a single such is asked for.
    """
    if answer.failure:
        return Results({}, failure=answer.failure)
    names = list(returns)
    single = len(names) == 1 and _joined(answer.values, returns[names[0]])
    values = single or _spread(answer.values, len(names))
    arrays = {}
    for value in values:
        name = _name(value, names)
        if name is not None:
            arrays[name] = _as_stated(value, returns[name])
    return Results(arrays, count=len(values))


def _spread(values: tuple[Value, ...], expected: int) -> tuple[Value, ...]:
    first = values[0] if len(values) == 1 else None
    is_list = first is not None and first.path == () and first.source == "list"
    if not is_list or expected < 2 or first is None or len(first.array) != expected:
        return values
    return tuple(Value((n,), member, "list") for n, member in enumerate(first.array))


def _joined(values: tuple[Value, ...], stated: Parameter) -> tuple[Value, ...]:
    """One array of all members of a tuple, if the result has one axis more than each; else ()."""
    axes = sum(axis != ELLIPSIS for axis in stated.shape)
    shapes = {value.array.shape for value in values}
    in_order = [value.path for value in values] == [(n,) for n in range(len(values))]
    if not in_order or len(shapes) != 1 or values[0].array.ndim + 1 != axes:
        return ()
    return (Value((), np.stack([value.array for value in values]), "list"),)


def _name(value: Value, names: list[str]) -> str | None:
    match value.path:
        case ():
            return names[0]
        case (int(position),) if position < len(names):
            return names[position]
        case (str(name),) if name in names:
            return name
    return None


def _as_stated(value: Value, stated: Parameter) -> Array:
    # 1 is a fine way to write 1.0 in a list or as a number; an int array is another matter.
    written = value.source in ("list", "number") and value.array.dtype.kind in "iu"
    if written and stated.dtype.startswith("float"):
        return value.array.astype(np.float64)
    return value.array


FAILURE_KEYS = {
    Outcome.RAISED: "raised",
    Outcome.TIMED_OUT: "timed_out",
    Outcome.OUT_OF_MEMORY: "out_of_memory",
    Outcome.OUTPUT_TOO_LARGE: "output_too_large",
    Outcome.CRASHED: "crashed",
    Outcome.NOT_DEFINED: "not_defined",
    Outcome.LOAD_ERROR: "load_error",
    Outcome.WRONG_TYPE: "wrong_type",
}


def finding_of(failure: Failure, case: str, entry: str) -> Finding:
    """The facts of a call that gave no values."""
    key, more = FAILURE_KEYS[failure.outcome], dict[str, Json]()
    if failure.outcome == Outcome.LOAD_ERROR:
        key, more = told(failure)
    return Finding(
        key=key,
        facts={
            "case": case,
            "entry": entry,
            "detail": failure.detail,
            "error_type": failure.error_type,
            "file": failure.file,
            "cell": failure.cell,
            "line": failure.line,
            "limit": failure.limit,
            "signal": failure.signal,
            "exit_code": failure.exit_code,
            "in_given": failure.in_given,
            **more,
        },
    )
