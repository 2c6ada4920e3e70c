"""What a problem file must say without contradicting itself, beyond the type of each key."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from app.catalogue.answer_rules import answer_findings
from app.catalogue.check_rules import check_findings
from app.catalogue.code_rules import code_findings
from app.catalogue.known import At, Found
from app.catalogue.variant_rules import variant_findings
from app.domain.problem import CodeProblem, Problem, questions_of
from app.domain.words import LANGUAGES

ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,47}", re.IGNORECASE)

TODO = "TODO"
"""How a text begins that is still to be written."""

LIMITS = {"wall_s": 600, "case_s": 600, "memory_mb": 16384}
"""The most that a problem may allow; a typing error must not hold a worker for a day."""


def findings(problem: Problem) -> Iterator[Found]:
    """Every contradiction, as (location, message)."""
    yield from _identifiers(problem)
    yield from _points(problem)
    yield from _limits(problem)
    yield from check_findings(problem)
    yield from variant_findings(problem)
    if isinstance(problem, CodeProblem):
        yield from code_findings(problem)
    else:
        yield from answer_findings(problem)


def _identifiers(problem: Problem) -> Iterator[Found]:
    yield from _identifier(("id",), problem.id)
    if "_" in problem.id:
        yield (
            ("id",),
            f"id is {problem.id!r}; expected '-' instead of '_', as it stands in addresses",
        )
    for part in ("rubric", "checks", "accepted", "misconceptions"):
        ids = [entry.id for entry in getattr(problem, part, ())]
        for n, name in enumerate(ids):
            yield from _identifier((part, n, "id"), name)
            if name in ids[:n]:
                yield (part, n, "id"), f"the id `{name}` stands in {part} twice"


def _identifier(at: At, name: str) -> Iterator[Found]:
    if not ID.fullmatch(name):
        yield at, f"id is {name[:60]!r}; expected up to 48 letters, digits, '-' and '_'"


def _points(problem: Problem) -> Iterator[Found]:
    total = math.fsum(each.points for each in questions_of(problem))
    if not (math.isfinite(total) and math.isclose(total, problem.points)):
        yield (
            ("points",),
            f"points is {problem.points:g}, but the checks add up to {total:g}",
        )
    for part in ("rubric", "checks"):
        for n, each in enumerate(getattr(problem, part, ())):
            if not each.points > 0:
                yield (part, n, "points"), f"points is {each.points:g}; expected more than 0"


def _limits(problem: Problem) -> Iterator[Found]:
    for name, highest in LIMITS.items():
        limit = getattr(problem.limits, name)
        if not 0 < limit <= highest:
            yield (
                ("limits", name),
                f"{name} is {limit:g}; expected more than 0 and at most {highest}",
            )


def unwritten(problem: Problem) -> Iterator[Found]:
    """Every text that still begins with TODO. Such a problem can be read, graded and looked at,
    but not proven, and so not published."""
    yield from _unwritten((), problem)


def _unwritten(at: At, value: object) -> Iterator[Found]:
    if isinstance(value, str):
        if value.lstrip().startswith(TODO):
            yield at, f"{_name_of_text(at)} still begins with {TODO}"
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield from _unwritten((*at, key), member)
    elif isinstance(value, tuple | list):
        for n, member in enumerate(value):
            yield from _unwritten((*at, n), member)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _unwritten((*at, field.name), getattr(value, field.name))


def _name_of_text(at: At) -> str:
    return f"`{at[-2]}` ({at[-1]})" if at[-1] in LANGUAGES else f"`{at[-1]}`"
