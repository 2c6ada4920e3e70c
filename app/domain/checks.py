"""The named questions worth points: one class for each kind of check.

A kind states its own keys here; ``grading.checks`` holds how it is judged, under the same name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from app.domain.bilingual import Words

STRICT: dict[str, object] = {"extra": "forbid", "use_attribute_docstrings": True}


@dataclass(frozen=True, kw_only=True)
class CheckBase:
    """The keys that every kind of check has."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    id: str
    """Name of the check, shown to the student; misconceptions refer to it."""
    points: float
    """For all of its cases or nothing, unless ``credit`` says otherwise."""
    cases: tuple[str, ...] = ()
    """Names of case sets; all cases of each are judged. Empty in problems without cases."""
    of: tuple[str, ...] = ()
    """Returned names or fields, "A[0]" allowed. Empty: all of them."""
    atol: float = 1e-9
    """Largest accepted absolute difference, beside ``rtol`` times the expected value."""
    rtol: float = 0.0
    """Largest accepted difference relative to the expected value, on top of ``atol``."""
    tolerance_note: str = ""
    """Why a right or a wrong answer may be within a factor 3 of the tolerance; no warning then."""
    hidden: bool = False
    """The student sees outcome and points, never place or values."""
    requires: tuple[str, ...] = ()
    """Checks that must pass first, else this one is not run."""
    rows: Literal["with_visible_key"] | None = None
    """Leave out rows of queries that see no key, by the mask that ``by`` names."""
    by: str | None = None
    """Name of the mask parameter, True = visible."""
    isolate: bool = False
    """Each of the cases runs in a process of its own, which can remember nothing of the others."""
    credit: Literal["all", "per_entry"] = "all"
    """Points for all or nothing, or in proportion to the right entries; kind ``values`` only."""
    show_expected: bool = False
    """Show the expected value in the message."""


@dataclass(frozen=True, kw_only=True)
class ValuesCheck(CheckBase):
    """Shape, then kind of dtype, then finite, then values, against the expected ones."""

    kind: Literal["values"]


@dataclass(frozen=True, kw_only=True)
class ShapeCheck(CheckBase):
    """The shapes alone."""

    kind: Literal["shape"]


@dataclass(frozen=True, kw_only=True)
class DtypeCheck(CheckBase):
    """The results are there and have the expected kind of dtype; values are not looked at."""

    kind: Literal["dtype"]


@dataclass(frozen=True, kw_only=True)
class FiniteCheck(CheckBase):
    """No NaN and no infinity."""

    kind: Literal["finite"]


@dataclass(frozen=True, kw_only=True)
class ZerosCheck(CheckBase):
    """Weights of keys that the mask ``by`` hides are exactly 0; -0.0 passes."""

    kind: Literal["zeros"]


@dataclass(frozen=True, kw_only=True)
class RowSumsCheck(CheckBase):
    """Rows sum to 1, or to 0 for a query that the mask ``by`` lets see nothing."""

    kind: Literal["row_sums"]


CAUSALITY = "causality"


@dataclass(frozen=True, kw_only=True)
class NoLeakCheck(CheckBase):
    """Rows of ``vary`` that a query may not see are replaced; its output must not change.

    ``by`` names the mask, or is ``causality``: then all later positions are hidden.
    """

    kind: Literal["no_leak"]
    vary: tuple[str, ...]
    """Parameters whose rows are replaced."""
    replacements: tuple[float, ...]
    """Finite values of both signs, each written into whole rows; added to tokens (``below``)."""


Change = Literal["add_row_constants", "other_samples"]


@dataclass(frozen=True, kw_only=True)
class InvariantCheck(CheckBase):
    """Inputs are changed, and the results must stay within ``atol`` of what they were."""

    kind: Literal["invariant"]
    change: Mapping[str, Change]
    """How each of these parameters is changed: a constant is added to each row (the last axis), or
    all samples (the first axis) but the first are replaced."""


@dataclass(frozen=True, kw_only=True)
class GradientCheck(CheckBase):
    """Values, where ``rtol`` is relative to the largest entry of each expected gradient."""

    kind: Literal["gradient"]
    rtol: float = 1e-7
    """Largest accepted difference relative to the largest entry of each expected gradient."""


@dataclass(frozen=True, kw_only=True)
class InputsUnchangedCheck(CheckBase):
    """The arguments are as they were after the call."""

    kind: Literal["inputs_unchanged"]


@dataclass(frozen=True, kw_only=True)
class RepeatableCheck(CheckBase):
    """The same call gives the same result again."""

    kind: Literal["repeatable"]
    across: Literal["calls", "seeds"] = "calls"
    """Again in the same process, or in another with other seeds of the global generators."""


@dataclass(frozen=True, kw_only=True)
class StaticCheck(CheckBase):
    """Names and imports that must not stand in the code; it needs no cases."""

    kind: Literal["static"]
    forbid_names: tuple[str, ...] = ()
    """Dotted paths such as ``torch.softmax``, or single words: a method, an import, a builtin."""
    forbid_imports: tuple[str, ...] = ()
    """Modules; those inside them are forbidden too."""


@dataclass(frozen=True, kw_only=True)
class PropertyCheck(CheckBase):
    """Many answers are right: those that have a property."""

    kind: Literal["property"]
    holds: str
    """Code with a function ``holds`` of the fields that its parameters name: whether it does."""
    says: Words | None = None
    """The property in words, for a student whose answer lacks it."""


Check = (
    ValuesCheck
    | ShapeCheck
    | DtypeCheck
    | FiniteCheck
    | ZerosCheck
    | RowSumsCheck
    | NoLeakCheck
    | InvariantCheck
    | GradientCheck
    | InputsUnchangedCheck
    | RepeatableCheck
    | PropertyCheck
    | StaticCheck
)
"""Any check; ``kind`` tells which."""
