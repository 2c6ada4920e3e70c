"""What problems of kind answer and text must say without contradicting themselves."""

from collections.abc import Iterator, Mapping

from app.catalogue.known import At, Found, unknown, unknown_names
from app.catalogue.staff_code import parameters_of, python_findings
from app.domain.answers import parse_answers
from app.domain.problem import FieldProblem, TextProblem, is_reference
from app.errors import UnreadableSubmission

TEXT_LIMIT = 100_000
"""The longest text that a problem may ask for, in characters."""


def answer_findings(problem: FieldProblem) -> Iterator[Found]:
    """Contradictions in the solution of a problem with fields, and in what is asked of a text."""
    solution = problem.solution
    if isinstance(problem, TextProblem):
        yield from _text(problem)
    if isinstance(solution, Mapping):
        yield from value_findings(("solution",), solution, problem)
        for name in problem.fields:
            if name not in solution:
                yield ("solution",), f"the solution gives no value for the field `{name}`"
    elif not is_reference(solution):
        yield ("solution",), "expected the fields' values, or `reference.module:function`"


def _text(problem: TextProblem) -> Iterator[Found]:
    if not 1 <= problem.max_chars <= TEXT_LIMIT:
        yield ("max_chars",), f"max_chars is {problem.max_chars}; expected 1 to {TEXT_LIMIT}"
    if not problem.rubric:
        yield ("rubric",), "the rubric is empty; a problem without one is of kind answer"
    checks = {check.id for check in problem.checks}
    for n, line in enumerate(problem.rubric):
        if line.id in checks:
            yield ("rubric", n, "id"), f"the id `{line.id}` stands in rubric and in checks"


def value_findings(at: At, answers: Mapping[str, object], problem: FieldProblem) -> Iterator[Found]:
    """Each of ``answers`` that names no field, or that no student could send."""
    yield from unknown_names(at, answers, problem.fields, "field")
    for name, value in answers.items():
        if name in problem.fields:
            try:
                parse_answers(problem.fields, {name: value})
            except UnreadableSubmission as error:
                yield (*at, name), str(error)


def property_findings(at: At, code: str, function: str, problem: FieldProblem) -> Iterator[Found]:
    """Why ``code`` cannot ask about the fields: no Python, no ``function``, no such field."""
    wrong = list(python_findings(at, code))
    yield from wrong
    if wrong:
        return
    names = parameters_of(code, function)
    if not names:
        yield at, f"expected a function `{function}` of one field or more"
    for name in names:
        if message := unknown(name, problem.fields, "field"):
            yield at, message
