"""A problem as its file states it: what the student is told, what is checked, what is known wrong.

Frozen values without behaviour. Field names are the keys of the problem file, and the docstrings
below them become the descriptions in the published JSON Schema.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, TypeVar, get_args

from app.domain.answers import Field
from app.domain.bilingual import Words
from app.domain.checks import Check, PropertyCheck
from app.domain.outcome import Outcome

STRICT: dict[str, object] = {"extra": "forbid", "use_attribute_docstrings": True}

Dtype = Literal["float64", "float32", "int64", "bool"]

CallBy = Literal["position", "name"]

NumberGenerator = Literal[
    "quarters", "normals", "integers", "zeros", "ones", "counting", "hard_bias", "mixed_bias"
]
MaskGenerator = Literal["causal", "random_with_one", "random", "all", "none"]
GENERATORS: tuple[str, ...] = (*get_args(NumberGenerator), *get_args(MaskGenerator))


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter of the student's function, or one of its returned values."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    shape: tuple[str | int, ...] = ()
    """Axis names, sizes, or formulas in axis names such as "H*d"; a leading "..." stands for any
    leading axes. Empty: a number."""
    dtype: Dtype = "float64"
    """Type of the entries unless a case says otherwise."""
    true_means: Literal["visible", "hidden", "keep"] | None = None
    """What True says in a mask; shown to the student."""
    optional: bool = False
    """A case may leave it out; the student's function then gets None."""
    value: str | float | None = None
    """The number that it has unless a case says otherwise; the name of an axis: its size."""
    below: str | int | None = None
    """Drawn integers run from 0 to this number, or to this axis' size, without reaching it."""
    infinite: bool = False
    """Fixed values may be infinite, as in an additive mask."""
    members: Mapping[str, "Parameter"] = field(default_factory=dict)
    """Makes it a dictionary of these, such as the weights of a model."""
    repeat: str | int | None = None
    """Makes it a list of this many such dictionaries; the name of an axis: its size."""
    function: bool = False
    """A function: each case names one that ``given`` defines."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A function of the student's, or a procedure of the problem's own around some of them."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    parameters: Mapping[str, Parameter]
    """In positional order."""
    returns: Mapping[str, Parameter]
    """Several: a tuple in this order or a dict by these names. One: the bare value."""
    call_by: CallBy = "position"
    """``name``: the student may order the parameters at will. A function that has them all by the
    names stated here is called by name, any other by position."""
    solution: str | None = None
    """As in the problem, for this entry alone."""
    uses: tuple[str, ...] = ()
    """The student's functions or classes that come before the parameters. It is then a procedure
    that ``given`` defines: steps one after another, a round trip, a class and its methods."""


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
    nested lists), the name of a generator, a ``Draw``, or a mapping of such for a dictionary; one
    that is absent is drawn by ``entries``, or is None where the parameter is optional.
    """

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    call: str = ""
    """The entry that is called; empty: the first."""
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
    """Type of all arguments of this case that are stated as float64 or float32."""
    seed: int | None = None
    """Draws the same numbers in every run."""
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
    """Name of the variant, for staff."""
    code: str | None = None
    """A whole submission, as a student would send it."""
    changes: Mapping[str, str] = field(default_factory=dict)
    """In place of code: the first accepted code with each key, which stands there once, replaced by
    its value."""
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
    """Name of the wrong idea, shown in reports."""
    caught_by: str
    """The check that must refuse it."""
    feedback: Words
    """The sentence that a student reads whose work equals this wrong answer."""
    code: str | None = None
    """A whole wrong submission, as a student would send it."""
    changes: Mapping[str, str] = field(default_factory=dict)
    """In place of code: the first accepted code with each key, which stands there once, replaced by
    its value."""
    answers: Mapping[str, object] | None = None
    """Fields left out are as in the solution; numbers in full precision."""
    text: str | None = None
    """A sample of a wrong text, for those who mark; ``caught_by`` is the line that it must not get.
    Nothing is scored by it."""
    when: str | None = None
    """Code with a function ``when`` of the fields that its parameters name: whether an answer shows
    this misconception. Without it an answer must equal the one above."""
    passes: tuple[str, ...] = ()
    """Checks that it must pass, since it is right there."""
    max_points: float | None = None
    """It must never earn more than this."""
    outcome: Outcome | None = None
    """The outcome that catches it, where that is not a value outcome."""


@dataclass(frozen=True, kw_only=True)
class ProblemBase:
    """What every kind of problem has."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    id: str
    """Letters, digits, "-"; the file's name without its ending."""
    title: Words
    """A few words, shown in lists and above the statement."""
    section: str
    """Section of the chapter."""
    source: str
    """Where the question comes from; shown to the student."""
    points: float
    """Sum of the checks' points."""
    statement: Words
    """Markdown; formulas between dollar signs."""
    checks: tuple[Check, ...]
    """The named questions about a submission, each worth points."""
    accepted: tuple[Accepted, ...] = ()
    """Right answers of other forms, each of which must pass."""
    misconceptions: tuple[Misconception, ...] = ()
    """Wrong answers that people give, each with the sentence that explains it."""
    limits: Limits = field(default_factory=Limits)
    """Time and memory of one submission."""


@dataclass(frozen=True, kw_only=True)
class CodeProblem(ProblemBase):
    """The student writes a function, several, or a class."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    kind: Literal["code"]
    entry: str = ""
    """Name of the student's function, where there is one; else ``entries``."""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    """Of ``entry``, in positional order."""
    returns: Mapping[str, Parameter] = field(default_factory=dict)
    """Of ``entry``. Several: a tuple in this order or a dict by these names. One: the value."""
    call_by: CallBy = "position"
    """Of ``entry``. ``name``: the student may order the parameters at will."""
    entries: Mapping[str, Entry] = field(default_factory=dict)
    """Several functions by name."""
    given: str = ""
    """Code beside the student's: functions that cases pass as arguments, and procedures."""
    file: str = ""
    """Name of the file that must define the entries; empty: any."""
    starter: str
    """What the student begins with; scores 0."""
    solution: str = ""
    """``reference.module:function``, called by position, or a block of code."""
    cases: Mapping[str, CaseSet]
    """Sets of inputs by name: fixed values, or draws."""


@dataclass(frozen=True, kw_only=True)
class AnswerProblem(ProblemBase):
    """The student fills in fields."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    kind: Literal["answer"]
    fields: Mapping[str, Field]
    """What the student fills in, by name."""
    solution: str | Mapping[str, object]
    """Values of the fields, or ``reference.module:function`` called with each field's sizes."""


@dataclass(frozen=True, kw_only=True)
class RubricLine:
    """A question about a text that a person decides; until then it is ``pending``."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    id: str
    """Name of the line, shown to the student."""
    points: float
    """At most these."""
    says: Words
    """What earns the points; shown to staff."""
    hidden: ClassVar[bool] = False
    show_expected: ClassVar[bool] = False


@dataclass(frozen=True, kw_only=True)
class TextProblem(ProblemBase):
    """The student writes a text, and may fill in fields beside it."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    kind: Literal["text"]
    max_chars: int
    """The longest text that is taken."""
    rubric: tuple[RubricLine, ...]
    """The lines that a person decides, each worth points."""
    checks: tuple[Check, ...] = ()
    """Checks of the fields beside the text."""
    fields: Mapping[str, Field] = field(default_factory=dict)
    """What the student fills in beside the text, by name."""
    solution: str | Mapping[str, object] = field(default_factory=dict)
    """Values of the fields, as in a problem of kind answer."""


FieldProblem = AnswerProblem | TextProblem
"""A problem with fields to fill in."""

Problem = CodeProblem | AnswerProblem | TextProblem


def is_reference(solution: object) -> bool:
    """Whether ``solution`` names a function of the reference instead of giving code or values."""
    return isinstance(solution, str) and solution.startswith("reference.") and ":" in solution


def entries_of(problem: CodeProblem) -> Mapping[str, Entry]:
    """All that can be called, by name, in the order of the file."""
    if problem.entries:
        return problem.entries
    only = Entry(parameters=problem.parameters, returns=problem.returns, call_by=problem.call_by)
    return {problem.entry: only}


def called_by(problem: CodeProblem, case: CaseSet) -> str:
    """The name of the entry that ``case`` calls; the first one where it names none that exists."""
    entries = entries_of(problem)
    return case.call if case.call in entries else next(iter(entries))


def written_entries(problem: CodeProblem) -> Mapping[str, Entry]:
    """What the student writes: the entries that are no procedure of the problem's own."""
    return {name: entry for name, entry in entries_of(problem).items() if not entry.uses}


def solution_of(problem: CodeProblem, entry: str) -> str:
    """The solution of one entry: its own, or the problem's."""
    return entries_of(problem)[entry].solution or problem.solution


def leaves(named: Mapping[str, Parameter]) -> Iterator[Parameter]:
    """All parameters that are no dictionary, those inside dictionaries included."""
    for parameter in named.values():
        if parameter.members:
            yield from leaves(parameter.members)
        else:
            yield parameter


def needs_sandbox(problem: Problem) -> bool:
    """Whether code runs to grade it: the student's, or the problem's own on answers."""
    if isinstance(problem, CodeProblem):
        return True
    judged = any(isinstance(check, PropertyCheck) for check in problem.checks)
    return judged or any(known.when for known in problem.misconceptions)


def with_changes(problem: Problem) -> Problem:
    """``problem`` with the code of each variant that is stated as changes of the first accepted."""
    first = problem.accepted[0].code if problem.accepted else None
    return replace(
        problem,
        accepted=tuple(_changed(variant, first) for variant in problem.accepted),
        misconceptions=tuple(_changed(known, first) for known in problem.misconceptions),
    )


Variant = TypeVar("Variant", Accepted, Misconception)


def _changed(variant: Variant, first: str | None) -> Variant:
    if not variant.changes or first is None or variant.code is not None:
        return variant
    code = first
    for old, new in variant.changes.items():
        code = code.replace(old, new)
    return replace(variant, code=code)


def questions_of(problem: Problem) -> tuple[Check | RubricLine, ...]:
    """All that is worth points: the lines of a rubric, then the checks."""
    rubric = problem.rubric if isinstance(problem, TextProblem) else ()
    return (*rubric, *problem.checks)


def question_of(problem: Problem, question_id: str) -> Check | RubricLine:
    """The check or rubric line of that id; KeyError if there is none."""
    for question in questions_of(problem):
        if question.id == question_id:
            return question
    raise KeyError(question_id)


def check_of(problem: Problem, check_id: str) -> Check:
    """The check of that id; KeyError if there is none."""
    for check in problem.checks:
        if check.id == check_id:
            return check
    raise KeyError(check_id)
