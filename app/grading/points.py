"""The sizes at which two shapes or formulas are compared."""

import random
from collections.abc import Sequence
from fractions import Fraction

from app.domain.answers import ExpressionField, ShapeField
from app.domain.expressions import Sizes, parse

POINTS = 8


def points_of(field: ShapeField | ExpressionField, seed: int) -> Sequence[Sizes] | None:
    """The sizes that the question fixes, or eight drawn ones where names depend on each other.

    None where all names are free: then two formulas are compared identically, at points where
    both have a value. Drawn sizes differ pairwise.
    """
    if field.sizes is not None:
        return [_completed(field, dict(field.sizes))]
    if not field.where:
        return None
    draw = random.Random(seed)  # noqa: S311 - test points, not secrets
    drawn = [draw.sample(range(2, 1000), len(field.names)) for _ in range(POINTS)]
    return [_completed(field, dict(zip(field.names, sizes, strict=True))) for sizes in drawn]


def _completed(
    field: ShapeField | ExpressionField, sizes: dict[str, int | float | Fraction]
) -> Sizes:
    for name, formula in field.where.items():
        sizes[name] = parse(formula, list(sizes)).evaluate(sizes)
    return sizes
