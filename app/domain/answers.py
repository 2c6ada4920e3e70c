"""The fields of an answer problem, and the reading of what a student filled into them.

Reading says whether a value can be understood, not whether it is right: a matrix with too few rows
is read, and judged ``wrong_shape`` later. Nothing that a student writes is evaluated as code.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import ClassVar, Literal, TypeGuard, Union

from app.domain.expressions import (
    Expression,
    ExpressionError,
    Shape,
    is_name,
    parse,
    parse_shape,
)
from app.domain.quotation import did_you_mean, half_width, quoted
from app.errors import ToldError, UnreadableSubmission

MAX_ENTRIES = 10_000
MAX_AXES = 8
MAX_NUMBER_CHARACTERS = 100
MAX_INTEGER = 2**63 - 1
MAX_DIGITS = 4300
"""Digits of an integer in JSON; Python's own limit, which may be switched off."""

NO_CHOICE = "none"

STRICT: dict[str, object] = {"extra": "forbid", "use_attribute_docstrings": True}

Matrix = Union[float, tuple["Matrix", ...]]  # noqa: UP007 - a recursive alias cannot use |
"""A number, or a tuple of matrices of one shape."""

Value = Matrix | bool | str | Expression | Shape
"""What a field was read as; an integer field gives int, or float where the answer is not finite."""


class _Unreadable(ToldError, ValueError):
    """Why a value cannot be read; the field's name is added above."""


@dataclass(frozen=True, kw_only=True)
class FieldBase:
    """What every type of field has."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    label: Mapping[Literal["en", "zh"], str] | None = None
    """Shown instead of the field's name."""


@dataclass(frozen=True, kw_only=True)
class MatrixField(FieldBase):
    """Numbers in rows; one axis makes a vector."""

    type: Literal["matrix"]
    shape: tuple[int, ...]
    """The expected number of rows and columns; an answer of another shape is ``wrong_shape``."""

    def read(self, raw: object) -> Matrix:
        """Nested tuples of floats, all rows of one length."""
        if _is_list(raw):
            _refuse_too_many_entries(raw)
            return _read_nested(raw, ())
        raise _Unreadable(
            f"{quoted(raw)} is not a matrix: expected rows such as [[1, 0], [0.5, 0.5]]",
            f"{quoted(raw)} 不是矩阵：应为若干行，例如 [[1, 0], [0.5, 0.5]]",
        )


@dataclass(frozen=True, kw_only=True)
class NumberField(FieldBase):
    """One number: 0.125, "1/8", "1.25e-1"."""

    type: Literal["number"]

    def read(self, raw: object) -> float:
        """A float; NaN and infinities are read and judged later."""
        return read_number(raw)


@dataclass(frozen=True, kw_only=True)
class IntegerField(FieldBase):
    """One whole number."""

    type: Literal["integer"]

    def read(self, raw: object) -> int | float:
        """An int of at most 64 bits; NaN and infinities come as floats and are judged later."""
        return _read_integer(raw)


@dataclass(frozen=True, kw_only=True)
class _SymbolicField(FieldBase):
    names: tuple[str, ...] = ()
    """Names that the answer may use; empty: those of ``sizes``, else numbers only."""
    sizes: Mapping[str, int | float] | None = None
    """Values of the names where the question fixes them; else any values are meant."""
    where: Mapping[str, str] = dataclass_field(default_factory=dict)
    """Further names that the answer may use, each with its formula in the names above."""
    quantity: str = ""
    """Name of the value in what the solution returns; empty: the field's own name."""

    def __post_init__(self) -> None:
        for name in self.allowed_names:
            if not is_name(name):
                raise ValueError(f"{name!r} cannot name a size: expected letters, digits and _")
        if self.sizes is not None and (missing := set(self.names) - set(self.sizes)):
            raise ValueError(f"sizes gives no value for {', '.join(sorted(missing))}")
        for formula in self.where.values():
            parse(formula, self.allowed_names)

    @property
    def allowed_names(self) -> tuple[str, ...]:
        """The names that the answer may use."""
        return (*(self.names or tuple(self.sizes or ())), *self.where)


@dataclass(frozen=True, kw_only=True)
class ShapeField(_SymbolicField):
    """A shape such as [B, H, T, T] or [2, 3, 5, 5]."""

    type: Literal["shape"]

    def read(self, raw: object) -> Shape:
        """One expression for each axis."""
        if isinstance(raw, str) or _is_list(raw):
            return parse_shape(raw, self.allowed_names)
        raise _Unreadable(
            f"{quoted(raw)} is not a shape: expected a list such as [2, 5, 24]",
            f"{quoted(raw)} 不是形状：应为列表，例如 [2, 5, 24]",
        )


@dataclass(frozen=True, kw_only=True)
class ExpressionField(_SymbolicField):
    """A formula such as 8*B*T*D**2."""

    type: Literal["expression"]

    def read(self, raw: object) -> Expression:
        """The formula, not evaluated."""
        if isinstance(raw, str):
            return parse(raw, self.allowed_names)
        if not _is_number(raw):
            raise _Unreadable(
                f"{quoted(raw)} is not a formula: expected one such as 2*B or 46080",
                f"{quoted(raw)} 不是公式：应为例如 2*B 或 46080 的式子",
            )
        if isinstance(raw, int) and abs(raw) > MAX_INTEGER:
            raise _Unreadable(f"{quoted(raw)} is too large", f"{quoted(raw)} 太大")
        return parse(str(raw), self.allowed_names)


@dataclass(frozen=True, kw_only=True)
class ChoiceField(FieldBase):
    """One of the words in ``choices``, or several of them."""

    type: Literal["choice"]
    choices: tuple[str, ...]
    """What can be chosen."""
    several: bool = False
    """Any number of them, as a list or with commas between; "none" for no one."""

    def read(self, raw: object) -> str:
        """The choice as the problem spells it; case and outer spaces do not matter.

        Several stand in the order of ``choices``, with commas between.
        """
        if not self.several:
            return self._one(raw)
        if isinstance(raw, str):
            raw = [] if _plain(raw) == NO_CHOICE else half_width(raw).split(",")
        if not _is_list(raw):
            raise _Unreadable(
                f"{quoted(raw)} is not a list of choices", f"{quoted(raw)} 不是选项的列表"
            )
        chosen = {self._one(word) for word in raw}
        return ", ".join(word for word in self.choices if word in chosen) or NO_CHOICE

    def _one(self, raw: object) -> str:
        words = {choice.casefold(): choice for choice in self.choices}
        if isinstance(raw, str) and (choice := words.get(_plain(raw))):
            return choice
        listed = ", ".join(map(repr, self.choices))
        raise _Unreadable(
            f"{quoted(raw)} is not a choice: expected one of {listed}",
            f"{quoted(raw)} 不是选项：应为 {listed} 之一",
        )


@dataclass(frozen=True, kw_only=True)
class BooleanField(FieldBase):
    """True or false."""

    type: Literal["boolean"]

    def read(self, raw: object) -> bool:
        """The truth value; the words true, false, yes and no are understood too."""
        if isinstance(raw, bool):
            return raw
        if isinstance(raw, str) and (truth := _TRUTH.get(_plain(raw))) is not None:
            return truth
        raise _Unreadable(
            f"{quoted(raw)} is not true or false", f"{quoted(raw)} 既不是 true 也不是 false"
        )


Field = (
    MatrixField
    | NumberField
    | IntegerField
    | ShapeField
    | ExpressionField
    | ChoiceField
    | BooleanField
)
"""Any field; ``type`` tells which."""


def parse_answers(fields: Mapping[str, Field], raw: object) -> dict[str, Value]:
    """Read a student's object of answers; a field that is not answered is absent.

    Raises UnreadableSubmission, naming the field, for an unknown field or an unreadable value.
    """
    if not isinstance(raw, Mapping):
        raise UnreadableSubmission(
            f"the answers are {quoted(raw)}: expected an object of fields",
            f"答案是 {quoted(raw)}：应为由各字段组成的对象",
        )
    for name in raw:
        if name not in fields:
            raise _unknown(name, fields)
    return {
        name: _read_field(name, field, raw[name]) for name, field in fields.items() if name in raw
    }


def parse_json_object(data: bytes) -> dict[str, object]:
    """The JSON object in ``data`` (UTF-8, a byte order mark is allowed).

    NaN, Infinity and -Infinity are read as floats. Raises UnreadableSubmission for anything else
    that is not one object, and for repeated keys, numbers out of range, and NUL characters or half
    surrogate pairs, which no database stores.
    """
    try:
        value = _DECODER.decode(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UnreadableSubmission(
            f"byte {error.start} is not UTF-8: save the file in UTF-8",
            f"第 {error.start} 个字节不是 UTF-8：请将文件保存为 UTF-8",
        ) from None
    except json.JSONDecodeError as error:
        raise UnreadableSubmission(
            f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}; "
            'forms such as "1/8" stand in quotes',
            f"第 {error.lineno} 行第 {error.colno} 列不是有效的 JSON（{error.msg}）；"
            '"1/8" 之类的写法要加引号',
        ) from None
    except RecursionError:
        raise UnreadableSubmission("the JSON is nested too deeply", "JSON 嵌套过深") from None
    if not isinstance(value, dict):
        raise UnreadableSubmission(
            f"the JSON is {quoted(value)}: expected an object of fields",
            f"JSON 是 {quoted(value)}：应为由各字段组成的对象",
        )
    return value


def read_number(raw: object) -> float:
    """A float from a JSON number or a text: "0.125", ".125", "1/8", "+1.25e-1", "nan", "-inf".

    Raises ValueError with one sentence.
    """
    if _is_number(raw):
        return _float_of(raw, float)
    if not isinstance(raw, str):
        raise _Unreadable(f"{quoted(raw)} is not a number", f"{quoted(raw)} 不是数")
    if len(raw) > MAX_NUMBER_CHARACTERS:
        raise _Unreadable(
            f"{quoted(raw)} is too long for a number", f"{quoted(raw)} 太长，不能作为一个数"
        )
    text = _plain(raw)
    if text in _NOT_FINITE:
        return float(text)
    if match := _FRACTION.fullmatch(text):
        return _float_of(raw, lambda _: _quotient(match["above"], match["below"]))
    english, chinese = _number_hint(text)
    raise _Unreadable(
        f"{quoted(raw)} is not one number: {english}", f"{quoted(raw)} 不是一个数：{chinese}"
    )


def shape_of(matrix: Matrix) -> tuple[int, ...]:
    """The lengths of the axes; () for a number."""
    if not isinstance(matrix, tuple):
        return ()
    return (len(matrix), *(shape_of(matrix[0]) if matrix else ()))


# Fields


def in_field(name: str) -> tuple[str, str]:
    """How a sentence on a field begins, in English and in Chinese."""
    return f"field {name}: ", f"字段 {name}："


def _unknown(name: object, fields: Mapping[str, Field]) -> UnreadableSubmission:
    english, chinese = did_you_mean(str(name), fields)
    listed = ", ".join(fields)
    return UnreadableSubmission(
        f"unknown field {quoted(name)}{english}; the fields are {listed}",
        f"没有字段 {quoted(name)}{chinese}；字段有 {listed}",
    )


def _read_field(name: str, field: Field, raw: object) -> Value:
    if raw is None or raw == "":
        raise UnreadableSubmission(
            f"field {name} is empty: leave it out if you have no answer",
            f"字段 {name} 为空：没有答案时请不要写出这个字段",
        )
    try:
        return field.read(raw)
    except (_Unreadable, ExpressionError) as error:
        english, chinese = in_field(name)
        raise UnreadableSubmission(f"{english}{error}", f"{chinese}{error.chinese}") from None


_TRUTH = {"true": True, "yes": True, "false": False, "no": False}


def _plain(text: str) -> str:
    return half_width(text).strip().casefold()


def _is_list(raw: object) -> TypeGuard[Sequence[object]]:
    return isinstance(raw, list | tuple)


def _is_number(raw: object) -> TypeGuard[int | float]:
    return isinstance(raw, int | float) and not isinstance(raw, bool)


# Numbers


_DECIMAL = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?"
_FRACTION = re.compile(rf"(?P<above>[+-]?{_DECIMAL})(?: */ *(?P<below>{_DECIMAL}))?")
_PERCENT = re.compile(rf"[+-]?{_DECIMAL} *%")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")
_GROUPS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?")
_NOT_FINITE = {sign + word for sign in ("", "+", "-") for word in ("nan", "inf", "infinity")}


def _float_of(raw: object, convert: Callable[..., float]) -> float:
    try:
        value = convert(raw)
    except ZeroDivisionError:
        raise _Unreadable(f"{quoted(raw)} divides by zero", f"{quoted(raw)} 除以了零") from None
    except OverflowError:
        value = math.inf
    if math.isinf(value) and not isinstance(raw, float):
        raise _Unreadable(f"{quoted(raw)} is too large for a number", f"{quoted(raw)} 数值过大")
    return value


def _quotient(above: str, below: str | None) -> float:
    return float(above) / float(below) if below else float(above)


def _number_hint(text: str) -> tuple[str, str]:
    if _PERCENT.fullmatch(text):
        meant = f"{float(text.rstrip(' %')) / 100:.12g}"
        return f"write {meant}, without a percent sign", f"请写 {meant}，不带百分号"
    if _GROUPS.fullmatch(text):
        meant = text.replace(",", "")
        return f"write {meant}, without commas", f"请写 {meant}，不带逗号"
    if _DECIMAL_COMMA.fullmatch(text):
        meant = text.replace(",", ".")
        return f"write {meant}, with a decimal point", f"请写 {meant}，用小数点"
    forms = "0.125, 1/8", "1.25e-1"
    return f"expected a form such as {' or '.join(forms)}", f"应写作 {' 或 '.join(forms)} 之类"


def _read_integer(raw: object) -> int | float:
    whole = raw
    if isinstance(raw, str) and re.fullmatch("[+-]?[0-9,]*,[0-9,]*", _plain(raw)):
        raise _Unreadable(
            f"{quoted(raw)} is not one whole number: leave the comma out",
            f"{quoted(raw)} 不是一个整数：请去掉逗号",
        )
    if isinstance(raw, str) and re.fullmatch(r"[+-]?[0-9]{1,20}", _plain(raw)):
        whole = int(_plain(raw))
    if not isinstance(whole, int) or isinstance(whole, bool):
        value = read_number(raw)
        if not math.isfinite(value):
            return value
        if not value.is_integer():
            raise _Unreadable(f"{quoted(raw)} is not a whole number", f"{quoted(raw)} 不是整数")
        whole = int(value)
    if abs(whole) > MAX_INTEGER:
        raise _Unreadable(
            f"{quoted(raw)} is too large for a whole number", f"{quoted(raw)} 作为整数过大"
        )
    return whole


# Matrices


def _refuse_too_many_entries(raw: Sequence[object]) -> None:
    waiting: list[object] = [raw]
    seen = 0
    while waiting:
        part = waiting.pop()
        seen += 1
        if _is_list(part):
            if seen + len(waiting) + len(part) > MAX_ENTRIES:
                raise _Unreadable(
                    f"the matrix has more than {MAX_ENTRIES} entries",
                    f"矩阵的元素超过 {MAX_ENTRIES} 个",
                )
            waiting.extend(part)


def _read_nested(raw: object, place: tuple[int, ...]) -> Matrix:
    if not _is_list(raw):
        return _read_entry(raw, place)
    if len(place) == MAX_AXES:
        raise _Unreadable(
            f"the matrix is nested deeper than {MAX_AXES} lists",
            f"矩阵的嵌套超过 {MAX_AXES} 层",
        )
    rows = tuple(_read_nested(row, (*place, index)) for index, row in enumerate(raw))
    for index, row in enumerate(rows):
        if shape_of(row) != shape_of(rows[0]):
            this, first = list(shape_of(row)), list(shape_of(rows[0]))
            raise _Unreadable(
                f"ragged: {[*place, index]} has shape {this} and {[*place, 0]} has {first}, "
                "expected rows of one length",
                f"各行不齐：{[*place, index]} 的形状为 {this}，{[*place, 0]} 的为 {first}，"
                "各行应一样长",
            )
    return rows


def _read_entry(raw: object, place: tuple[int, ...]) -> float:
    try:
        return read_number(raw)
    except _Unreadable as error:
        english, chinese = f"entry {list(place)}: {error}", f"元素 {list(place)}：{error.chinese}"
        raise _Unreadable(english, chinese) from None


# JSON


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise UnreadableSubmission(
                f"the key {quoted(key)} stands twice in the JSON",
                f"JSON 中的键 {quoted(key)} 出现了两次",
            )
        _refuse_unstorable(key)
        if isinstance(value, str):
            _refuse_unstorable(value)
        found[key] = value
    return found


def _refuse_unstorable(text: str) -> None:
    if strange := re.search("[\0\ud800-\udfff]", text):
        raise UnreadableSubmission(
            f"the JSON holds {strange.group()!r}, which is not a character",
            f"JSON 中有 {strange.group()!r}，它不是字符",
        )


def _json_integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise UnreadableSubmission(
            f"the JSON holds an integer of more than {MAX_DIGITS} digits",
            f"JSON 中有超过 {MAX_DIGITS} 位的整数",
        )
    return int(digits)


def _json_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        shown = text[:MAX_NUMBER_CHARACTERS]
        raise UnreadableSubmission(
            f"the JSON number {shown} is too large", f"JSON 中的数 {shown} 过大"
        )
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique_keys, parse_int=_json_integer, parse_float=_json_float
)
