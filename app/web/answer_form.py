"""Answers as a form: one input for each field, or a grid of them for a small matrix."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from itertools import product
from math import prod

from app.domain.answers import (
    BooleanField,
    ChoiceField,
    ExpressionField,
    Field,
    IntegerField,
    MatrixField,
    NumberField,
    ShapeField,
    in_field,
    parse_answers,
    parse_json_object,
)
from app.domain.words import Language
from app.errors import UnreadableSubmission

GRID_COLUMNS, GRID_ENTRIES = 8, 64

Sent = Mapping[str, str]
"""What a form sent, by the name of the input."""


@dataclass(frozen=True)
class FormField:
    """One field as it is drawn. ``sent`` holds what the student typed, by name of the input."""

    name: str
    field: Field
    label: str
    sent: Sent = dataclass_field(default_factory=dict)
    error: str = ""

    @property
    def kind(self) -> str:
        """Which inputs are drawn: grid, rows, choice or line."""
        match self.field:
            case MatrixField():
                return "grid" if is_grid(self.field) else "rows"
            case ChoiceField(several=True):
                return "line"
            case ChoiceField() | BooleanField():
                return "choice"
        return "line"

    @property
    def hint(self) -> str:
        """The key of the words that say what to type."""
        match self.field:
            case NumberField():
                return "hint_number"
            case IntegerField():
                return "hint_integer"
            case ShapeField():
                return "hint_shape"
            case ExpressionField():
                return "hint_expression"
            case MatrixField():
                return "hint_grid" if is_grid(self.field) else "hint_rows"
        return ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names that a formula may use."""
        return getattr(self.field, "allowed_names", ())

    @property
    def choices(self) -> tuple[str, ...]:
        """What can be chosen."""
        return self.field.choices if isinstance(self.field, ChoiceField) else ("true", "false")

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a matrix."""
        return self.field.shape if isinstance(self.field, MatrixField) else ()

    @property
    def rows(self) -> Iterator[list[str]]:
        """The names of a grid's inputs, row by row."""
        *leading, columns = self.shape
        for index in product(*map(range, leading)):
            yield [entry(self.name, (*index, column)) for column in range(columns)]


def is_grid(field: MatrixField) -> bool:
    """Whether the matrix is small enough for an input for each entry."""
    flat = 1 <= len(field.shape) <= 2 and prod(field.shape) <= GRID_ENTRIES
    return flat and field.shape[-1] <= GRID_COLUMNS


def entry(name: str, index: tuple[int, ...]) -> str:
    """The name of the input of one entry, such as "A.0.1"."""
    return ".".join([name, *map(str, index)])


def empty_form(fields: Mapping[str, Field], language: Language) -> list[FormField]:
    """The fields with nothing typed."""
    return [FormField(name, field, _label(name, field, language)) for name, field in fields.items()]


def _label(name: str, field: Field, language: Language) -> str:
    return (field.label or {}).get(language) or name


def read_form(
    fields: Mapping[str, Field], sent: Sent, language: Language
) -> tuple[dict[str, object], list[FormField]]:
    """The answers that can be read, and every field with what was typed and what is wrong with
    it. Fields that were left empty are no answers."""
    answers: dict[str, object] = {}
    drawn = []
    for name, field in fields.items():
        error = ""
        try:
            raw = _raw(name, field, sent)
            if raw is not None:
                parse_answers({name: field}, {name: raw})
                answers[name] = raw
        except UnreadableSubmission as unreadable:
            error = unreadable.told(language)
            for prefix in in_field(name):
                error = error.removeprefix(prefix)
        drawn.append(FormField(name, field, _label(name, field, language), sent, error))
    return answers, drawn


def _raw(name: str, field: Field, sent: Sent) -> object:
    """What was typed into one field, as the JSON interface would get it."""
    if isinstance(field, MatrixField) and is_grid(field):
        return _from_grid(name, field.shape, sent)
    text = sent.get(name, "").strip()
    if not text:
        return None
    return _from_rows(text, len(field.shape)) if isinstance(field, MatrixField) else text


def _from_grid(name: str, shape: tuple[int, ...], sent: Sent) -> object:
    indices = list(product(*map(range, shape)))
    typed = {index: sent.get(entry(name, index), "").strip() for index in indices}
    if not any(typed.values()):
        return None
    missing = next((index for index in indices if not typed[index]), None)
    if missing:
        raise UnreadableSubmission(
            f"entry {list(missing)} is empty; fill in all, or none",
            f"元素 {list(missing)} 为空；请全部填写，或全部留空",
        )
    *leading, columns = shape
    rows = [[typed[*i, j] for j in range(columns)] for i in product(*map(range, leading))]
    return rows if leading else rows[0]


def _from_rows(text: str, axes: int) -> object:
    if text.startswith("["):
        return parse_json_object(f'{{"rows": {text}}}'.encode())["rows"]
    rows = [re.split(r"[\s,;，；]+", line.strip()) for line in text.splitlines() if line.strip()]
    return rows[0] if axes == 1 and len(rows) == 1 else rows


def written(answer: object) -> str:
    """An answer as it was sent, a matrix with one line for each row."""
    if not isinstance(answer, list):
        return str(answer)
    rows = [written(row) for row in answer]
    return (",\n " if any("[" in row for row in rows) else ", ").join(rows).join("[]")
