"""A problem as its file states it: what the student is told, what is checked, what is known wrong.

Frozen values without behaviour. Field names are the keys of the problem file, and the docstrings
below them become the descriptions in the published JSON Schema.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from app.domain.answers import Field
from app.domain.checks import Check
from app.domain.outcome import Outcome

STRICT: dict[str, object] = {"extra": "forbid", "use_attribute_docstrings": True}

Dtype = Literal["float64", "float32", "int64", "bool"]

NumberGenerator = Literal["quarters", "normals", "integers", "zeros", "ones"]
MaskGenerator = Literal["causal", "random_with_one", "random", "all", "none"]
GENERATORS: tuple[str, ...] = (*get_args(NumberGenerator), *get_args(MaskGenerator))


@dataclass(frozen=True, kw_only=True)
class Words:
    """One text in both languages."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    en: str
    zh: str


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter of the student's function, or one of its returned values."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    shape: tuple[str | int, ...] = ()
    """Axis names or sizes; a leading "..." stands for any leading axes. Empty: a number."""
    dtype: Dtype = "float64"
    """Type of the entries unless a case says otherwise."""
    true_means: Literal["visible", "hidden", "keep"] | None = None
    """What True says in a mask; shown to the student."""
    optional: bool = False
    """A case may leave it out; the student's function then gets None."""


@dataclass(frozen=True, kw_only=True)
class Draw:
    """An argument that is drawn, with its own leading axes."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    draw: str
    """The generator's name."""
    leading: tuple[int, ...] | None = None
    """Sizes of the axes that "..." stands for, for this argument alone; else as in the case."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Axes that have another size here than in the case, such as a mask's query axis of 1."""


@dataclass(frozen=True, kw_only=True)
class CaseSet:
    """One named set of inputs, or ``count`` drawn ones.

    In a problem file the parameters stand beside the keys below: each is a literal (numbers in
    nested lists), the name of a generator, or a ``Draw``; one that is absent is drawn by
    ``entries``, or is None where the parameter is optional.
    """

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    count: int = 1
    """How many cases to draw."""
    dims: Mapping[str, int | tuple[int, int]] = field(default_factory=dict)
    """Axis sizes: a number, or the lowest and the highest to draw from."""
    distinct_dims: bool = False
    """Draw sizes that differ pairwise, so that equal sizes hide nothing."""
    leading: tuple[int, ...] = ()
    """Sizes of the axes that "..." stands for."""
    entries: NumberGenerator = "quarters"
    """Generator of numeric parameters that the case does not give."""
    scale: float = 1.0
    """Drawn numbers are multiplied by this."""
    dtype: Dtype | None = None
    """Type of all numeric arguments of this case."""
    arguments: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one submission may use."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    wall_s: float = 10.0
    """Seconds for the whole submission."""
    case_s: float = 2.0
    """Seconds for one call."""
    memory_mb: int = 512
    """Memory for the student's process."""


@dataclass(frozen=True, kw_only=True)
class Accepted:
    """A right answer of another form: it must pass, except where ``except`` allows a refusal."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    id: str
    code: str | None = None
    answers: Mapping[str, object] | None = None
    """Fields left out are as in the solution."""
    excused: tuple[str, ...] = ()
    """Checks that may refuse it (the key in the file is ``except``)."""
    points: Mapping[str, float] = field(default_factory=dict)
    """Points per check where the form earns less than full marks."""
    note: Words | None = None
    """Shown to a student who gives this form."""


@dataclass(frozen=True, kw_only=True)
class Misconception:
    """A known wrong answer with the sentence that explains it."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    id: str
    caught_by: str
    """The check that must refuse it."""
    feedback: Words
    code: str | None = None
    answers: Mapping[str, object] | None = None
    """Fields left out are as in the solution; numbers in full precision."""
    passes: tuple[str, ...] = ()
    """Checks that it must pass, since it is right there."""
    max_points: float | None = None
    """It must never earn more than this."""
    outcome: Outcome | None = None
    """The outcome that catches it, where that is not a value outcome."""


@dataclass(frozen=True, kw_only=True)
class ProblemBase:
    """What every kind of problem has."""

    id: str
    """Letters, digits, "-"; the file's name without its ending."""
    title: Words
    section: str
    """Section of the chapter."""
    source: str
    """Where the question comes from; shown to the student."""
    points: float
    """Sum of the checks' points."""
    statement: Words
    """Markdown; formulas between dollar signs."""
    checks: tuple[Check, ...]
    accepted: tuple[Accepted, ...] = ()
    misconceptions: tuple[Misconception, ...] = ()
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, kw_only=True)
class CodeProblem(ProblemBase):
    """The student writes a function."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    kind: Literal["code"]
    entry: str
    """Name of the student's function."""
    parameters: Mapping[str, Parameter]
    """In positional order."""
    returns: Mapping[str, Parameter]
    """Several: a tuple in this order or a dict by these names. One: the bare value."""
    starter: str
    """What the student begins with; scores 0."""
    solution: str
    """``reference.module:function``, called by position, or a block of code."""
    cases: Mapping[str, CaseSet]


@dataclass(frozen=True, kw_only=True)
class AnswerProblem(ProblemBase):
    """The student fills in fields."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    kind: Literal["answer"]
    fields: Mapping[str, Field]
    solution: str | Mapping[str, object]
    """Values of the fields, or ``reference.module:function`` called with each field's sizes."""


Problem = CodeProblem | AnswerProblem


def is_reference(solution: object) -> bool:
    """Whether ``solution`` names a function of the reference instead of giving code or values."""
    return isinstance(solution, str) and solution.startswith("reference.") and ":" in solution


def check_of(problem: Problem, check_id: str) -> Check:
    """The check of that id; KeyError if there is none."""
    for check in problem.checks:
        if check.id == check_id:
            return check
    raise KeyError(check_id)
