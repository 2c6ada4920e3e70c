"""The bodies that calls answer with, beside the report."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict

from app.domain.run import RunStatus


class AcceptedSubmission(BaseModel):
    """A submission that is stored and will be graded, whatever happens."""

    id: str
    problem: str
    status: RunStatus
    attempt: int
    sha256: str
    received_at: datetime


class Student(BaseModel):
    """Whose submission it is."""

    id: str
    name: str


class SubmissionSummary(BaseModel):
    """One line of the list of submissions."""

    id: str
    problem: str
    student: Student
    attempt: int
    received_at: datetime
    status: RunStatus
    score: float | None
    max_score: float


class SubmissionList(BaseModel):
    """Submissions, newest first; ``next`` is the ``cursor`` of the page after this one."""

    items: list[SubmissionSummary]
    next: str | None


class ProblemSummary(BaseModel):
    """One problem in a list."""

    id: str
    title: str
    kind: str
    points: float


class AssignmentSummary(BaseModel):
    """One assignment with its problems."""

    id: str
    title: str
    problems: list[ProblemSummary]


class AssignmentList(BaseModel):
    """The assignments of the asker's courses."""

    items: list[AssignmentSummary]
    next: None = None


class ProblemList(BaseModel):
    """The problems of the asker's courses."""

    items: list[ProblemSummary]
    next: None = None


class ParameterDetails(BaseModel):
    """One parameter of the function to write, or one of its results.

    With ``members`` it is a dictionary of these, and with ``repeat`` a list of that many such.
    """

    name: str
    shape: list[str | int]
    dtype: str
    true_means: str | None
    optional: bool
    repeat: str | int | None = None
    members: list["ParameterDetails"] = []
    function: bool = False


class EntryDetails(BaseModel):
    """One of the functions to write. With ``call_by`` name one that has the names of all parameters
    may have them in any order."""

    entry: str
    parameters: list[ParameterDetails]
    returns: list[ParameterDetails]
    call_by: str = "position"


class FieldDetails(BaseModel):
    """One field to fill in. ``shape`` is that of a matrix, ``names`` those a formula may use."""

    name: str
    type: str
    label: str
    shape: list[int] | None = None
    names: list[str] | None = None
    choices: list[str] | None = None


class LimitsDetails(BaseModel):
    """What a submission may use, and how large it may be."""

    wall_s: float
    case_s: float
    memory_mb: int
    upload_bytes: int


class CheckSummary(BaseModel):
    """One check; what a hidden one looks at is not told."""

    id: str
    points: float
    hidden: bool


class ProblemDetails(ProblemSummary):
    """A problem as a student needs it: ``statement`` is markdown with formulas between dollars.

    ``entry``, ``parameters`` and ``returns`` are those of the first function to write, ``entries``
    those of all; ``fields`` are the answers to give, ``max_chars``
    the length of a text to write.
    """

    assignment: str
    version: str
    section: str
    source: str
    statement: str
    entry: str | None = None
    parameters: list[ParameterDetails] | None = None
    returns: list[ParameterDetails] | None = None
    entries: list[EntryDetails] | None = None
    starter: str | None = None
    fields: list[FieldDetails] | None = None
    max_chars: int | None = None
    checks: list[CheckSummary]
    limits: LimitsDetails


class ProposedProblem(BaseModel):
    """A problem whose proof is not finished yet; sending it again waits for it again."""

    id: str
    version: str
    state: Literal["proving"]


class OverrideRequest(BaseModel):
    """Points that a person gives for one check, and why."""

    model_config = ConfigDict(extra="forbid", strict=True)

    check: str
    points: float
    reason: str


class Health(BaseModel):
    """The process is alive, whatever the load."""

    status: Literal["ok"] = "ok"


class ReadinessDetails(BaseModel):
    """Whether submissions are graded now; ``detail`` says what is missing."""

    ready: bool
    detail: str
    sandbox_level: str | None = None
    workers: int = 0
    waiting: int = 0
    oldest_waiting_s: float = 0.0
