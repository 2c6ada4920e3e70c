"""Answers judged by a property: staff code looks at them, in the sandbox like any other code.

Only values that were read into a field enter it. The functions ``holds`` of checks and ``when`` of
misconceptions run in one job; each gets the fields that its parameters name.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from app.catalogue.staff_code import parameters_of
from app.domain.answers import Field, MatrixField, Value
from app.domain.checks import PropertyCheck
from app.domain.problem import FieldProblem
from app.errors import AttestError
from app.sandbox.job import Answer, Call, Job, Limits
from app.sandbox.sandbox import Sandbox

Held = Mapping[str, bool]
"""By the id of a check or a misconception, for those whose fields are all there."""


@dataclass(frozen=True)
class Property:
    """A function of fields that answers yes or no; ``owner`` is a check or a misconception."""

    owner: str
    function: str
    code: str

    @property
    def file(self) -> str:
        return f"{self.function}_{self.owner}.py"

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of its parameters."""
        return parameters_of(self.code, self.function)


def properties_of(problem: FieldProblem) -> Iterator[Property]:
    """All that the problem states, of checks and of misconceptions."""
    for check in problem.checks:
        if isinstance(check, PropertyCheck):
            yield Property(check.id, "holds", check.holds)
    for known in problem.misconceptions:
        if known.when:
            yield Property(known.id, "when", known.when)


def held(
    problem: FieldProblem, given: Mapping[str, Value], sandbox: Sandbox | None, seed: int
) -> Held:
    """Which properties the answers have; one that lacks a field is left out.

    Raises AttestError where the code of a property fails: that is our fault.
    """
    asked = [p for p in properties_of(problem) if all(name in given for name in p.fields)]
    readable = [p for p in asked if all(_fits(problem.fields[n], given[n]) for n in p.fields)]
    if not readable or sandbox is None:
        return {}
    limits = problem.limits
    job = Job(
        files={p.file: p.code.encode() for p in readable},
        calls=tuple(
            Call(p.function, tuple(_argument(given[n]) for n in p.fields), file=p.file)
            for p in readable
        ),
        seed=seed,
        limits=Limits(limits.wall_s, limits.case_s, limits.memory_mb),
    )
    answers = sandbox.run(job)
    return {p.owner: _truth(problem, p, a) for p, a in zip(readable, answers, strict=True)}


def _fits(field: Field, value: Value) -> bool:
    """Whether staff code may rely on the shape and on finite numbers."""
    if not isinstance(field, MatrixField):
        return not isinstance(value, float) or np.isfinite(value)
    array = np.asarray(value, dtype=np.float64)
    return array.shape == field.shape and bool(np.isfinite(array).all())


def _argument(value: Value) -> object:
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple) and not any(hasattr(member, "evaluate") for member in value):
        return np.asarray(value, dtype=np.float64)
    return str(value)


def _truth(problem: FieldProblem, asked: Property, answer: Answer) -> bool:
    where = f"problem {problem.id}, `{asked.function}` of `{asked.owner}`"
    if answer.failure:
        raise AttestError(f"{where}: {answer.failure.outcome} {answer.failure.detail}")
    if len(answer.values) != 1 or answer.values[0].array.size != 1:
        raise AttestError(f"{where}: expected True or False")
    return bool(answer.values[0].array.item())
