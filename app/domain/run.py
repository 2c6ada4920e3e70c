"""What one grading found, in facts and numbers. Words in a language are made when it is shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from app.domain.outcome import Outcome

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

RunStatus = Literal[
    "queued", "running", "graded", "needs_review", "errored", "superseded", "cancelled"
]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What is wrong and where: a key of ``domain.words`` and the facts its sentence needs."""

    key: str
    facts: Mapping[str, Json] = field(default_factory=dict)


RemarkKind = Literal[
    "left_out", "cell_left_out", "statement_failed", "cell_failed", "only_tagged", "more"
]


@dataclass(frozen=True, kw_only=True)
class Remark:
    """What a student should know about how a file was loaded; it decides no check by itself.

    ``kind`` is a key of ``domain.words.REMARKS``, and ``text`` the student's own text in it. In a
    notebook ``line`` counts in the ``cell``.
    """

    kind: RemarkKind
    file: str
    cell: int | None = None
    line: int | None = None
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The two matrices behind a failed comparison, at most 64 by 64, as nested lists.

    Numbers that JSON lacks are "nan", "inf" and "-inf". ``wrong`` marks the cells that differ.
    """

    case: str
    name: str
    index: tuple[int, ...]
    student: Json
    expected: Json
    difference: Json
    wrong: Json
    cut: bool = False


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """How one check ended."""

    id: str
    outcome: Outcome
    points: float
    finding: Finding | None = None
    misconception: str | None = None
    evidence: Evidence | None = None


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """One grading of a submission, complete: with ``seed`` it can be replayed exactly.

    ``printed`` is what visible cases printed, ``printed_hidden`` the rest; ``notes`` are the ids
    of accepted variants whose note the student should read, ``remarks`` what was noticed when the
    files were loaded. Times are in seconds.
    """

    status: RunStatus
    score: float
    checks: tuple[CheckResult, ...]
    seed: int
    sandbox_level: str
    notes: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()
    printed: str = ""
    printed_hidden: str = ""
    sandbox_s: float = 0.0
    total_s: float = 0.0
