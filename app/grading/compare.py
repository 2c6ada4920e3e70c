"""One array against another: shape, then kind of dtype, then finite, then values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.domain.outcome import Outcome
from app.domain.run import Evidence, Finding, Json
from app.errors import AttestError

Array = NDArray[Any]
Mask = NDArray[np.bool_]

SHOWN = 64  # rows and columns of stored evidence

SINGLE = 1e-5
"""Within this, absolute and relative, a float32 computation is right."""

KINDS = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}


@dataclass(frozen=True)
class Verdict:
    """Why a check failed on one case."""

    outcome: Outcome
    finding: Finding
    evidence: Evidence | None = None


@dataclass(frozen=True)
class Question:
    """What is compared: the result ``name`` in ``case``, within ``atol + rtol * |expected|``.

    ``rows`` marks the rows (all axes but the last) that count; None means all. ``part`` is the
    index of the row or entry that alone is asked about; () means the whole result.
    """

    case: str
    name: str
    atol: float
    rtol: float = 0.0
    rows: Mask | None = None
    part: tuple[int, ...] = ()

    def facts(self, **more: Json) -> dict[str, Json]:
        return {"case": self.case, "name": self.name, **more}

    def counted(self, shape: tuple[int, ...]) -> Mask:
        """The entries of a result of ``shape`` that are asked about."""
        mask = np.ones(shape, np.bool_)
        if self.rows is not None and shape:
            mask &= self.rows[..., None]
        if self.part:
            inside = np.zeros(shape, np.bool_)
            try:
                inside[self.part] = True
            except IndexError as error:
                part = f"{self.name}{list(self.part)}"
                raise AttestError(f"{part}: {self.name} has shape {list(shape)}") from error
            mask &= inside
        return mask


def compare(student: Array, expected: Array, question: Question) -> Verdict | None:
    """None where the arrays agree, else the first thing that is wrong.

    Shape is compared exactly: nothing broadcasts. A NaN or infinity of the student's is never
    right where a finite value is expected.
    """
    return (
        wrong_shape(student, expected, question)
        or wrong_dtype(student, expected, question)
        or not_finite(student, expected, question)
        or _wrong_values(student, expected, question)
    )


def wrong_shape(student: Array, expected: Array, question: Question) -> Verdict | None:
    if student.shape == expected.shape:
        return None
    facts = question.facts(got=list(student.shape), expected=list(expected.shape))
    return Verdict(Outcome.WRONG_SHAPE, Finding(key="shape", facts=facts))


def wrong_dtype(student: Array, expected: Array, question: Question) -> Verdict | None:
    got, wanted = (KINDS.get(a.dtype.kind, a.dtype.kind) for a in (student, expected))
    if got == wanted:
        return None
    facts = question.facts(got=got, expected=wanted)
    return Verdict(Outcome.WRONG_DTYPE, Finding(key="dtype", facts=facts))


def not_finite(student: Array, expected: Array, question: Question) -> Verdict | None:
    counted = question.counted(student.shape)
    bad = ~np.isfinite(student) & np.isfinite(expected) & counted
    if not bad.any():
        return None
    index = _first(bad)
    facts = question.facts(
        index=list(index),
        got=as_json(student[index]),
        wrong=int(bad.sum()),
        total=int(counted.sum()),
    )
    evidence = evidence_of(student, expected, bad, question)
    return Verdict(Outcome.NOT_FINITE, Finding(key="not_finite", facts=facts), evidence)


def _wrong_values(student: Array, expected: Array, question: Question) -> Verdict | None:
    counted = question.counted(student.shape)
    bad = ~close(student, expected, question)
    single = off_by_width(student, expected, question, of=student)
    key = "single_precision" if single else "value"
    return wrong_where(bad, student, expected, question, counted, key)


def off_by_width(found: Array, expected: Array, question: Question, *, of: Array) -> bool:
    """Whether ``found``, computed from the float32 array ``of``, is right to that precision, while
    float64 is expected."""
    if of.dtype != np.float32 or expected.dtype != np.float64:
        return False
    near = close(found, expected, replace(question, atol=SINGLE, rtol=SINGLE))
    return bool(near[question.counted(found.shape)].all())


def wrong_where(
    bad: Mask,
    student: Array,
    expected: Array,
    question: Question,
    counted: Mask,
    key: str = "value",
) -> Verdict | None:
    """A verdict on the entries that ``bad`` marks among those ``counted``, if there are any."""
    bad = bad & counted
    if not bad.any():
        return None
    index = _first(bad)
    facts = question.facts(
        index=list(index),
        got=as_json(student[index]),
        expected=as_json(expected[index]),
        wrong=int(bad.sum()),
        total=int(counted.sum()),
    )
    evidence = evidence_of(student, expected, bad, question)
    return Verdict(Outcome.WRONG, Finding(key=key, facts=facts), evidence)


def close(student: Array, expected: Array, question: Question) -> Mask:
    """Entry by entry: equal within the tolerance. Written so that a NaN is never close, except
    to a NaN that is expected."""
    with np.errstate(invalid="ignore", over="ignore"):
        s, e = (_wide(array) for array in (student, expected))
        near = np.abs(s - e) <= question.atol + question.rtol * np.abs(e)
        return np.asarray(near | (s == e) | (np.isnan(s) & np.isnan(e)))


def _wide(array: Array) -> Array:
    # Differences of bool and of unsigned arrays wrap around; floats do not.
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _first(bad: Mask) -> tuple[int, ...]:
    return tuple(int(axis[0]) for axis in np.nonzero(bad)) if bad.ndim else ()


def evidence_of(student: Array, expected: Array, bad: Mask, question: Question) -> Evidence:
    """The matrix around the first wrong entry, as both sides have it."""
    index = _first(bad)
    leading = index[:-2] if bad.ndim > 2 else ()
    cut = any(size > SHOWN for size in bad.shape[len(leading) :])
    s, e, b = (_window(array[leading]) for array in (student, expected, bad))
    with np.errstate(invalid="ignore", over="ignore"):
        difference = _wide(s) - _wide(e)
    return Evidence(
        case=question.case,
        name=question.name,
        index=index,
        student=as_json(s),
        expected=as_json(e),
        difference=as_json(difference),
        wrong=as_json(b),
        cut=cut,
    )


def _window(array: Array) -> Array:
    return array[tuple(slice(SHOWN) for _ in array.shape)]


def as_json(value: Array | np.generic | Sequence[object]) -> Json:
    """Nested lists of JSON numbers; those that JSON lacks as "nan", "inf" and "-inf"."""
    plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(plain, list | tuple):
        return [as_json(member) for member in plain]
    if isinstance(plain, complex):
        return str(plain)
    if isinstance(plain, float) and not np.isfinite(plain):
        return str(plain)
    assert plain is None or isinstance(plain, bool | int | float | str)
    return plain
