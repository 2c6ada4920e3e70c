"""Matrices as coloured cells. The template draws them; the style sheet holds the two colour tables.

``sequential`` runs from 0 to the largest value, for matrices without negative entries;
``diverging`` runs from negative over 0 to positive.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeGuard

from app.domain.run import Json

STEPS = 9  # colours in each table
MIDDLE = STEPS // 2
SHOWN = 64
WITH_NUMBERS = (16, 10)  # larger ones are drawn without numbers
LARGE, SMALL = (68, 30), (8, 8)  # width and height of a cell

STRANGE = "cell-strange"  # the colour of what is no finite number
WIDEST = 9  # characters that fit a cell

Scale = Literal["sequential", "diverging"]


@dataclass(frozen=True)
class Cell:
    """One entry, at pixels ``x`` and ``y``; ``colour`` is a class of the style sheet."""

    row: int
    column: int
    x: int
    y: int
    text: str
    colour: str
    wrong: bool


@dataclass(frozen=True)
class HeatMap:
    """One matrix, ready to be drawn."""

    rows: int
    columns: int
    cell_width: int
    cell_height: int
    cells: tuple[Cell, ...]
    scale: Scale
    largest: str

    @property
    def has_numbers(self) -> bool:
        """Whether there is room for a number in each cell."""
        return (self.cell_width, self.cell_height) == LARGE

    @property
    def has_strange(self) -> bool:
        """Whether some entry is no finite number."""
        return any(cell.colour == STRANGE for cell in self.cells)

    @property
    def colours(self) -> list[str]:
        """The scale's classes, from the least value to the largest."""
        return [f"{self.scale[0]}{step}" for step in range(STEPS)]

    @property
    def wrong(self) -> list[Cell]:
        return [cell for cell in self.cells if cell.wrong]


def heat_map(values: Json, wrong: Json = None, *, beside: Json = None) -> HeatMap:
    """The matrix ``values`` (a number and a vector are matrices with one row) with the cells that
    ``wrong`` marks. What stands ``beside`` it is coloured alike, to be compared."""
    rows = _rows(values)
    marks = _rows(wrong)
    scale, largest = _scale([*_numbers(rows), *_numbers(_rows(beside))])
    size = LARGE if len(rows) <= WITH_NUMBERS[0] and len(rows[0]) <= WITH_NUMBERS[1] else SMALL
    cells = tuple(
        _cell(i, j, value, bool(marks and marks[i][j]), size, _colour(value, scale, largest))
        for i, row in enumerate(rows)
        for j, value in enumerate(row)
    )
    return HeatMap(len(rows), len(rows[0]), *size, cells, scale, _number(largest))


def _cell(i: int, j: int, value: Json, wrong: bool, size: tuple[int, int], colour: str) -> Cell:
    width, height = size
    return Cell(i, j, j * width, i * height, _number(value), colour, wrong)


def _rows(values: Json) -> list[list[Json]]:
    """At most 64 rows of at most 64 values."""
    if values is None:
        return []
    if not isinstance(values, list):
        return [[values]]
    if not values or not isinstance(values[0], list):
        return [values[:SHOWN]]
    return [row[:SHOWN] for row in values[:SHOWN] if isinstance(row, list)]


def _numbers(rows: Iterable[Iterable[Json]]) -> list[float]:
    return [float(value) for row in rows for value in row if _is_finite(value)]


def _is_finite(value: Json) -> TypeGuard[float]:
    return isinstance(value, bool | int | float) and math.isfinite(value)


def _scale(numbers: list[float]) -> tuple[Scale, float]:
    largest = max(map(abs, numbers), default=0.0)
    return ("diverging" if min(numbers, default=0.0) < 0 else "sequential"), largest


def _colour(value: Json, scale: Scale, largest: float) -> str:
    if not _is_finite(value):
        return STRANGE
    share = value / largest if largest else 0.0
    if scale == "sequential":
        return f"s{round(share * (STEPS - 1))}"
    return f"d{MIDDLE + round(share * MIDDLE)}"


def _number(value: Json) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    text = f"{value:.4g}"
    return text if len(text) <= WIDEST else f"{value:.2g}"
