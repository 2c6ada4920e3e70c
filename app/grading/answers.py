"""Answer problems: each field against the solution, known wrong answers by equality."""

import math
from collections.abc import Iterator, Mapping

import numpy as np

from app.catalogue.staff_code import parameters_of
from app.domain.answers import (
    ExpressionField,
    Field,
    IntegerField,
    MatrixField,
    NumberField,
    ShapeField,
    Value,
    parse_answers,
)
from app.domain.checks import Check, PropertyCheck
from app.domain.expressions import Expression, Shape, equal, first_wrong_axis
from app.domain.outcome import Outcome
from app.domain.problem import Accepted, FieldProblem, Misconception
from app.domain.run import CheckResult, Finding
from app.grading.code import failed
from app.grading.compare import Question, Verdict, compare
from app.grading.credit import partial_points
from app.grading.expected import expected_answers
from app.grading.points import points_of
from app.grading.properties import Held, held
from app.grading.trial import named_parts
from app.sandbox.sandbox import Sandbox

Values = Mapping[str, Value]

PRINTED_DIGITS = 6e-5
"""A known wrong answer is recognised when it was rounded to four decimals, as students write."""


def judge_answers(
    problem: FieldProblem, raw: Mapping[str, object], seed: int, sandbox: Sandbox | None = None
) -> tuple[tuple[CheckResult, ...], tuple[str, ...]]:
    """The result of every check, and the ids of accepted forms whose note applies.

    Only a problem that states properties needs the sandbox. Raises UnreadableSubmission where
    ``raw`` cannot be read.
    """
    given = parse_answers(problem.fields, raw)
    properties = held(problem, given, sandbox, seed)
    sheet = Sheet(problem, given, expected_answers(problem), seed, properties)
    results, notes = [], []
    for check in problem.checks:
        result, form = sheet.judge(check)
        results.append(result)
        if form and form.note:
            notes.append(form.id)
    return tuple(results), tuple(dict.fromkeys(notes))


class Sheet:
    """One filled-in sheet beside the solution."""

    def __init__(
        self, problem: FieldProblem, given: Values, expected: Values, seed: int, properties: Held
    ) -> None:
        self.problem = problem
        self.given = given
        self.expected = expected
        self.seed = seed
        self.properties = properties

    def judge(self, check: Check) -> tuple[CheckResult, Accepted | None]:
        """The result of one check, and the accepted form by which it was judged, if any."""
        verdict = self._first_wrong(check)
        if verdict is None:
            return CheckResult(id=check.id, outcome=Outcome.PASSED, points=check.points), None
        form = next((a for a in self.problem.accepted if self._has_form(a, check)), None)
        points = form.points.get(check.id, check.points) if form else self._partial(check)
        if form and points == check.points:
            return CheckResult(id=check.id, outcome=Outcome.PASSED, points=points), form
        result = failed(check, verdict)
        return (
            CheckResult(
                id=check.id,
                outcome=result.outcome,
                points=points,
                finding=result.finding,
                evidence=result.evidence,
                misconception=self._cause(check),
            ),
            form,
        )

    def _first_wrong(self, check: Check) -> Verdict | None:
        if isinstance(check, PropertyCheck):
            return self._without_property(check)
        return next((verdict for _, verdict in self._verdicts(check) if verdict), None)

    def _verdicts(self, check: Check) -> Iterator[tuple[int, Verdict | None]]:
        """For every field that ``check`` asks about: its number of entries, and the verdict."""
        for name, part in named_parts(check, self.problem.fields):
            question = Question("", name, check.atol, check.rtol, part=part)
            size = _entries(self.problem.fields[name], self.expected[name], question)
            yield size, self._differs(name, self.expected[name], question)

    def _without_property(self, check: PropertyCheck) -> Verdict | None:
        names = self._names(check)
        for name in names:
            question = Question("", name, math.inf)
            verdict = self._differs(name, self.expected[name], question)
            if (
                verdict and verdict.outcome != Outcome.WRONG
            ):  # missing, of another shape, not finite
                return verdict
        if self.properties[check.id]:
            return None
        return Verdict(Outcome.WRONG, Finding(key="property", facts={"names": list(names)}))

    def _partial(self, check: Check) -> float:
        return (
            0.0
            if isinstance(check, PropertyCheck)
            else partial_points(check, self._verdicts(check))
        )

    def _names(self, check: Check) -> tuple[str, ...]:
        """The fields that ``check`` asks about."""
        if isinstance(check, PropertyCheck):
            return parameters_of(check.holds, "holds")
        return tuple(name for name, _ in named_parts(check, self.problem.fields))

    def _has_form(self, form: Accepted, check: Check) -> bool:
        """Whether all that ``check`` asks about is as in ``form``; what that leaves out, as in the
        solution."""
        if isinstance(check, PropertyCheck):
            return False  # a form is another way to write the solution, which is one of many here
        stated = parse_answers(self.problem.fields, form.answers or {})
        parts = list(named_parts(check, self.problem.fields))
        right = {**self.expected, **stated}
        return any(name in stated for name, _ in parts) and all(
            self._differs(name, right[name], Question("", name, check.atol, check.rtol, part=part))
            is None
            for name, part in parts
        )

    def _differs(self, name: str, right: Value, question: Question) -> Verdict | None:
        if name not in self.given:
            return Verdict(Outcome.NOT_DEFINED, Finding(key="no_answer", facts={"name": name}))
        field = self.problem.fields[name]
        return _compare(field, self.given[name], right, question, self.seed)

    def _cause(self, check: Check) -> str | None:
        """The one known wrong answer that the sheet equals in all the fields it states.

        Of two that match, one that states what the other does and more explains more.
        """
        names = set(self._names(check))
        matching = {
            m.id: set(m.answers or {})
            for m in self.problem.misconceptions
            if names & set(m.answers or {}) and self._is_wrong_by(m, check)
        }
        telling = [
            name
            for name, stated in matching.items()
            if not any(stated < other for other in matching.values())
        ]
        return telling[0] if len(telling) == 1 else None

    def _is_wrong_by(self, misconception: Misconception, check: Check) -> bool:
        if misconception.when:
            return self.properties.get(misconception.id, False)
        return self._equals(misconception.answers or {}, max(check.atol, PRINTED_DIGITS))

    def _equals(self, stated: Mapping[str, object], atol: float) -> bool:
        values = parse_answers(self.problem.fields, stated)
        return all(
            self._differs(name, value, Question("", name, atol)) is None
            for name, value in values.items()
        )


def _entries(field: Field, expected: Value, question: Question) -> int:
    """How many entries of a field are asked about: of a matrix its numbers, else one."""
    if not isinstance(field, MatrixField):
        return 1
    return int(question.counted(np.asarray(expected, dtype=np.float64).shape).sum())


def _compare(
    field: Field, given: Value, expected: Value, question: Question, seed: int
) -> Verdict | None:
    match field:
        case MatrixField() | NumberField() | IntegerField():
            numbers = (np.asarray(value, dtype=np.float64) for value in (given, expected))
            student, solution = numbers
            return compare(student, solution, question)
        case ShapeField():
            assert isinstance(given, tuple)
            assert isinstance(expected, tuple)
            return _compare_shapes(field, given, expected, question, seed)  # type: ignore[arg-type]
        case ExpressionField():
            assert isinstance(given, Expression)
            assert isinstance(expected, Expression)
            same = equal(given, expected, points=points_of(field, seed))
            return None if same else _wrong(question, "formula", str(given), str(expected))
        case _:
            same = given == expected
            return None if same else _wrong(question, "choice", str(given), str(expected))


def _compare_shapes(
    field: ShapeField, given: Shape, expected: Shape, question: Question, seed: int
) -> Verdict | None:
    axis = first_wrong_axis(given, expected, points=points_of(field, seed))
    if axis is None:
        return None
    got, wanted = ([str(size) for size in shape] for shape in (given, expected))
    facts = question.facts(axis=axis, got=list(got), expected=list(wanted))
    key = "axis" if len(got) == len(wanted) else "axes"
    return Verdict(Outcome.WRONG, Finding(key=key, facts=facts))


def _wrong(question: Question, key: str, got: str, expected: str) -> Verdict:
    facts = question.facts(got=got, expected=expected)
    return Verdict(Outcome.WRONG, Finding(key=key, facts=facts))
