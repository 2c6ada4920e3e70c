"""Arithmetic formulas and symbolic shapes that students write, such as ``8*B*T*D**2``.

Read by a small parser of our own: nothing is evaluated as Python, and no text reaches Python's
compiler, which would warn about, choke on or spend gigabytes on what a hostile person can type.
Whatever the text is, reading and evaluating it takes milliseconds: its length, nesting, constants
and degree are bounded while it is read.

    sum      = product (("+" | "-") product)*
    product  = signed (("*" | "/") signed)*
    signed   = ("+" | "-") signed | power
    power    = atom ["**" signed]          the exponent is a constant whole number
    atom     = number | name | "sqrt" "(" sum ")" | "(" sum ")"
"""

import math
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice

from app.domain.quotation import did_you_mean, half_width, quoted
from app.errors import ToldError

MAX_CHARACTERS = 300
MAX_NESTING = 30
MAX_EXPONENT = 12
MAX_DEGREE = 24
MAX_CONSTANT = 10**12
MAX_DENOMINATOR = 10**30  # lets 0.3333333333333333 pass
MAX_AXES = 16
POINTS = 8

Sizes = Mapping[str, int | float | Fraction]
"""A value for every name of an expression."""


class ExpressionError(ToldError, ValueError):
    """A formula that cannot be read, or that has no value at a point; one sentence."""


# The tree. ``degree`` bounds the degrees of numerator and denominator as polynomials in the names.


@dataclass(frozen=True, slots=True)
class _Number:
    value: Fraction
    degree: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class _Name:
    name: str
    degree: tuple[int, int] = (1, 0)


@dataclass(frozen=True, slots=True)
class _Root:
    radicand: "_Node"
    degree: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Operation:
    symbol: str
    left: "_Node"
    right: "_Node"
    degree: tuple[int, int]


_Node = _Number | _Name | _Root | _Operation


@dataclass(frozen=True, slots=True)
class Expression:
    """A formula that was read: its text, the names that occur in it, and how to evaluate it."""

    text: str
    names: frozenset[str]
    has_root: bool
    _tree: _Node = field(repr=False, compare=False)

    def __str__(self) -> str:
        return self.text

    def evaluate(self, sizes: Sizes) -> Fraction:
        """The value at ``sizes``: exact, but for square roots, which have 256 significant bits.

        Raises ExpressionError on a division by zero or the root of a negative number, and
        KeyError if ``sizes`` lacks a name.
        """
        try:
            return _evaluate(self._tree, sizes)
        except ZeroDivisionError:
            english, chinese = "divides by zero", "除以了零"
        except _NegativeRoot:
            english, chinese = "takes the square root of a negative number", "对负数开平方"
        used = ", ".join(f"{name}={sizes[name]}" for name in sorted(self.names))
        raise ExpressionError(
            f"{quoted(self.text)} {english} at {used or 'every point'}",
            f"{quoted(self.text)} 在 {used or '每一点'} {chinese}",
        )


Shape = tuple[Expression, ...]


def is_name(text: str) -> bool:
    """Whether formulas can use ``text`` as a name."""
    return text != "sqrt" and re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", text) is not None


def parse(text: str, names: Sequence[str]) -> Expression:
    """Read one formula in ``names``; raises ExpressionError with one sentence."""
    if len(text) > MAX_CHARACTERS:
        raise ExpressionError(
            f"{quoted(text)} has {len(text)} characters: expected at most {MAX_CHARACTERS}",
            f"{quoted(text)} 有 {len(text)} 个字符：最多 {MAX_CHARACTERS} 个",
        )
    parser = _Parser(half_width(text), names)
    try:
        tree = parser.whole()
    except _Complaint as complaint:
        raise ExpressionError(
            f"{quoted(text)}: {complaint}", f"{quoted(text)}：{complaint.chinese}"
        ) from None
    used = [word for word in parser.words if word != "sqrt"]
    return Expression(text.strip(), frozenset(used), len(used) < len(parser.words), tree)


def parse_shape(raw: str | Sequence[object], names: Sequence[str]) -> Shape:
    """Read a shape: ``"[B, H, T, T]"``, ``"(2, 5)"``, ``"B, T"``, or a list of numbers and texts.

    Raises ExpressionError with one sentence.
    """
    axes = _split_axes(raw) if isinstance(raw, str) else raw
    if len(axes) > MAX_AXES:
        raise ExpressionError(
            f"{quoted(raw)} has {len(axes)} axes: expected a shape of at most {MAX_AXES}",
            f"{quoted(raw)} 有 {len(axes)} 个轴：形状最多 {MAX_AXES} 个轴",
        )
    return tuple(_parse_axis(index, axis, names) for index, axis in enumerate(axes))


def equal(
    a: Expression, b: Expression, *, points: Sequence[Sizes] | None = None, seed: int = 0
) -> bool:
    """Whether two formulas mean the same.

    With ``points``: at each of them; a formula without a value there is not equal. Without:
    identically, tested at eight random whole points where both have a value. Two different
    rational formulas of our degrees agree at all eight with a chance below 1e-16
    (Schwartz-Zippel: a difference of degree 48 has that part of 9998 values as zeros, to the 8th).
    """
    if points is not None:
        if not points:
            raise ValueError("no points to compare at")
        return all(_agree_at(a, b, point) for point in points)
    found = (_agree_at(a, b, point) for point in _random_points(a.names | b.names, seed))
    agreed = list(islice((one for one in found if one is not None), POINTS))
    return len(agreed) == POINTS and all(agreed)


def first_wrong_axis(
    answer: Shape, expected: Shape, *, points: Sequence[Sizes] | None = None, seed: int = 0
) -> int | None:
    """The first axis, from 0, at which two shapes differ, in the sense of ``equal``; None if equal.

    If one shape merely goes on where the other ends, that is the first axis that one lacks.
    """
    for axis, (a, b) in enumerate(zip(answer, expected, strict=False)):
        if not equal(a, b, points=points, seed=seed):
            return axis
    return None if len(answer) == len(expected) else min(len(answer), len(expected))


# Evaluation


_PRECISION_BITS = 256
_ROOT_TOLERANCE = Fraction(1, 2**200)
_ROUNDS = 64


class _NegativeRoot(ArithmeticError):
    pass


def _square_root(value: Fraction) -> Fraction:
    if value < 0:
        raise _NegativeRoot
    numerator, denominator = value.numerator, value.denominator
    exact = Fraction(math.isqrt(numerator), math.isqrt(denominator))
    if exact * exact == value:
        return exact
    spread = (denominator.bit_length() - numerator.bit_length()) // 2
    bits = max(0, _PRECISION_BITS + spread)
    return Fraction(math.isqrt((numerator << 2 * bits) // denominator), 1 << bits)


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    return Fraction(base ** int(exponent))


_OPERATIONS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": _power,
}


def _evaluate(node: _Node, sizes: Sizes) -> Fraction:
    match node:
        case _Number():
            return node.value
        case _Name():
            return Fraction(sizes[node.name])
        case _Root():
            return _square_root(_evaluate(node.radicand, sizes))
    left, right = _evaluate(node.left, sizes), _evaluate(node.right, sizes)
    return _OPERATIONS[node.symbol](left, right)


def _agree_at(a: Expression, b: Expression, point: Sizes) -> bool | None:
    """Whether both have the same value at ``point``; None where one has no value."""
    try:
        left, right = a.evaluate(point), b.evaluate(point)
    except ExpressionError:
        return None
    if a.has_root or b.has_root:
        return abs(left - right) <= _ROOT_TOLERANCE * max(Fraction(1), abs(left), abs(right))
    return left == right


def _random_points(names: frozenset[str], seed: int) -> Iterator[Sizes]:
    draw = random.Random(seed)  # noqa: S311 - a seeded test point, not a secret
    ordered = sorted(names)
    for _ in range(_ROUNDS):
        yield dict(zip(ordered, draw.sample(range(2, 10_000), len(ordered)), strict=True))


# Reading


class _Complaint(ToldError):
    """What is wrong with the text, without the text."""


_TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign>\*\*|[-+*/()])"
    r"|(?P<other>.)",
    re.DOTALL,
)
_HINTS = {
    "^": ("write ** for a power", "乘方请写 **"),
    "²": ("write **2 for a square", "平方请写 **2"),
    "³": ("write **3 for a cube", "立方请写 **3"),
    "÷": ("write / for a quotient", "除法请写 /"),
    "√": ("write sqrt(x) for a square root", "平方根请写 sqrt(x)"),
    "=": ("give one side only, without =", "只写等式的一边，不带 ="),
    ",": (
        "give one formula, without commas in its numbers: 46080, or 3.5 with a decimal point",
        "只写一个公式，数中不带逗号：46080，或带小数点的 3.5",
    ),
    **dict.fromkeys("×·⋅∙•✕✖", ("write * for a product", "乘法请写 *")),
    **dict.fromkeys("\\$", ("write plain arithmetic, not LaTeX", "请写普通算式，不要用 LaTeX")),
}
_IMPLICIT_PRODUCT = re.compile(r"[0-9][A-Za-z(]|\)[A-Za-z0-9(]")
_PRODUCT_HINT = "write * between factors, as in 8*B", "因子之间请写 *，例如 8*B"
_LONGEST_PRODUCT = 12  # characters; longer words could make the search for factors slow


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str


_END = _Token("end", "")


def _tokens(text: str) -> list[_Token]:
    found = [_Token(match.lastgroup or "", match.group()) for match in _TOKEN.finditer(text)]
    strange = [token.text for token in found if token.kind == "other"]
    if strange:
        raise _about_characters(text, strange)
    return [token for token in found if token.kind != "space"]


def _about_characters(text: str, strange: list[str]) -> _Complaint:
    hints = list(dict.fromkeys(_HINTS[character] for character in strange if character in _HINTS))
    if not hints:
        return _Complaint(
            f"{strange[0]!r} does not belong in a formula: expected numbers, names, "
            "+ - * / ** sqrt and parentheses",
            f"公式中不能有 {strange[0]!r}：可用数、名称、+ - * / ** sqrt 与括号",
        )
    if _IMPLICIT_PRODUCT.search(text):
        hints.append(_PRODUCT_HINT)
    return _Complaint("; ".join(en for en, _ in hints), "；".join(zh for _, zh in hints))


class _Parser:
    """Recursive descent over one text; ``words`` collects the names met, ``sqrt`` among them."""

    def __init__(self, text: str, names: Sequence[str]) -> None:
        self.text = text
        self.names = names
        self.words: list[str] = []
        self.tokens: list[_Token] = []
        self.place = 0
        self.nesting = 0

    def whole(self) -> _Node:
        self.tokens = _tokens(self.text)
        if not self.tokens:
            raise _Complaint(
                "empty, expected a formula such as 2*B or a number", "为空，应为 2*B 之类的公式或数"
            )
        tree = self.sum()
        if self.next is not _END:
            raise self.about_rest()
        return tree

    @property
    def next(self) -> _Token:
        return self.tokens[self.place] if self.place < len(self.tokens) else _END

    def take(self, *texts: str) -> str | None:
        token = self.next
        if token.text not in texts:
            return None
        self.place += 1
        return token.text

    def sum(self) -> _Node:
        tree = self.product()
        while symbol := self.take("+", "-"):
            tree = _joined(symbol, tree, self.product())
        return tree

    def product(self) -> _Node:
        tree = self.signed()
        while symbol := self.take("*", "/"):
            tree = _joined(symbol, tree, self.signed())
        return tree

    def signed(self) -> _Node:
        self.nesting += 1  # every way down the grammar passes here
        if self.nesting > MAX_NESTING:
            raise _Complaint(
                f"nested deeper than {MAX_NESTING} levels", f"嵌套超过 {MAX_NESTING} 层"
            )
        sign = self.take("+", "-")
        tree = self.signed() if sign else self.power()
        self.nesting -= 1
        return _joined("-", _Number(Fraction(0)), tree) if sign == "-" else tree

    def power(self) -> _Node:
        base = self.atom()
        return _joined("**", base, _exponent(self.signed())) if self.take("**") else base

    def atom(self) -> _Node:
        if self.take("("):
            return self.closed()
        token = self.next
        self.place += 1
        if token.kind == "number":
            return _Number(_constant(token.text))
        if token.kind == "name":
            return self.named(token.text)
        english, chinese = _where(token)
        raise _Complaint(f"expected a number or a name {english}", f"{chinese}应有数或名称")

    def closed(self) -> _Node:
        tree = self.sum()
        if not self.take(")"):
            english, chinese = _where(self.next)
            raise _Complaint(f"a ')' is missing {english}", f"{chinese}缺少 ')'")
        return tree

    def named(self, word: str) -> _Node:
        self.words.append(word)
        if word == "sqrt":
            return self.root()
        if word not in self.names:
            raise self.about_unknown(word)
        return _Name(word)

    def root(self) -> _Node:
        if not self.take("("):
            raise _Complaint(
                "write sqrt(x), with parentheses, for a square root", "平方根请写 sqrt(x)，要有括号"
            )
        radicand = self.closed()
        above, below = radicand.degree
        # At least 1: a root of a constant has many digits, so its powers are bounded like a name's.
        return _Root(radicand, (max(1, above), below))

    def about_rest(self) -> _Complaint:
        token = self.next
        if token.text == ")":
            return _Complaint("a '(' is missing before ')'", "')' 之前缺少 '('")
        hint, where = _PRODUCT_HINT, _where(token)
        return _Complaint(
            f"{hint[0]}, or another sign {where[0]}", f"{hint[1]}；或者 {where[1]}应有别的运算符"
        )

    def about_unknown(self, word: str) -> _Complaint:
        shown, listed = quoted(word), ", ".join(self.names)
        if factors := _factors(word, self.names):
            product = "*".join(factors)
            return _Complaint(
                f"write {product} for the product {word}", f"乘积 {word} 请写作 {product}"
            )
        if self.next.text == "(":
            return _Complaint(
                f"{shown} cannot be called, only sqrt( ) can",
                f"{shown} 不能调用，只有 sqrt( ) 可以",
            )
        if not self.names:
            return _Complaint(
                f"unknown name {shown}, expected numbers only", f"没有名称 {shown}，这里只能用数"
            )
        english, chinese = did_you_mean(word, self.names)
        return _Complaint(
            f"unknown name {shown}{english}, the names are {listed}",
            f"没有名称 {shown}{chinese}，可用的名称有 {listed}",
        )


def _where(token: _Token) -> tuple[str, str]:
    text = quoted(token.text)
    return ("at the end", "末尾") if token is _END else (f"before {text}", f"{text} 之前")


def _factors(word: str, names: Sequence[str]) -> list[str]:
    """The names whose product was written without ``*``, as in BTD; empty if it was none."""
    if not names or len(word) > _LONGEST_PRODUCT:
        return []
    one = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.findall(one, word) if re.fullmatch(f"(?:{one})+", word) else []


def _constant(text: str) -> Fraction:
    _, _, exponent = text.lower().partition("e")
    if len(exponent) > 4:  # before the power of ten is computed
        shown = quoted(text)
        raise _Complaint(f"the constant {shown} is out of range", f"常数 {shown} 超出范围")
    return _bounded(Fraction(text))


def _bounded(value: Fraction) -> Fraction:
    if abs(value) > MAX_CONSTANT or value.denominator > MAX_DENOMINATOR:
        raise _Complaint(
            "a constant is out of range, expected at most 10**12 and 30 decimals",
            "常数超出范围，最大 10**12，最多 30 位小数",
        )
    return value


def _exponent(tree: _Node) -> _Number:
    if isinstance(tree, _Number):
        if tree.value == Fraction(1, 2):
            raise _Complaint(*_HINTS["√"])
        if tree.value.denominator == 1 and abs(tree.value) <= MAX_EXPONENT:
            return tree
    raise _Complaint(
        f"an exponent must be a whole number from -{MAX_EXPONENT} to {MAX_EXPONENT}",
        f"指数须为 -{MAX_EXPONENT} 到 {MAX_EXPONENT} 的整数",
    )


def _joined(symbol: str, left: _Node, right: _Node) -> _Node:
    """The operation on two parts; on two constants at once its value, so that 9**9**9 is seen."""
    if isinstance(left, _Number) and isinstance(right, _Number):
        try:
            return _Number(_bounded(_OPERATIONS[symbol](left.value, right.value)))
        except ZeroDivisionError:
            raise _Complaint("it divides by zero", "除以了零") from None
    degree = _degree(symbol, left, right)
    if max(degree) > MAX_DEGREE:
        raise _Complaint(f"its degree is over {MAX_DEGREE}", f"次数超过 {MAX_DEGREE}")
    return _Operation(symbol, left, right, degree)


def _degree(symbol: str, left: _Node, right: _Node) -> tuple[int, int]:
    (above, below), (above2, below2) = left.degree, right.degree
    if symbol == "*":
        return above + above2, below + below2
    if symbol == "/":
        return above + below2, below + above2
    if symbol in "+-":
        return max(above + below2, above2 + below), below + below2
    assert isinstance(right, _Number)
    exponent = int(right.value)
    degree = above * abs(exponent), below * abs(exponent)
    return degree if exponent >= 0 else degree[::-1]


# Shapes


def _split_axes(text: str) -> list[str]:
    if len(text) > MAX_AXES * MAX_CHARACTERS:
        raise ExpressionError(
            f"{quoted(text)} is too long for a shape", f"{quoted(text)} 太长，不能作为形状"
        )
    inside = _unwrapped(half_width(text).strip())
    if inside.startswith("["):
        raise ExpressionError(
            f"{quoted(text)}: expected one pair of brackets, as in [B, T, D]",
            f"{quoted(text)}：应只有一对括号，例如 [B, T, D]",
        )
    if "," not in inside and re.search(r"×|[0-9A-Z)] ?[xX] ?[0-9A-Z(]", inside):
        raise ExpressionError(
            f"{quoted(text)}: separate the axes by commas, as in [B, T, D]",
            f"{quoted(text)}：各轴之间用逗号分隔，例如 [B, T, D]",
        )
    axes = [axis.strip() for axis in _split_at_commas(inside)]
    if not axes[-1]:
        axes.pop()  # (5,) and ()
    return axes


def _unwrapped(text: str) -> str:
    """``text`` without the brackets around the whole of it, if there are any."""
    if text[:1] not in ("(", "["):
        return text
    depth = 0
    for place, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if depth == 0:
            whole = place == len(text) - 1 and text[0] + character in ("()", "[]")
            return text[1:-1] if whole else text
    return text


def _split_at_commas(text: str) -> list[str]:
    axes, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            axes.append("")
        else:
            axes[-1] += character
    return axes


def _parse_axis(index: int, axis: object, names: Sequence[str]) -> Expression:
    if isinstance(axis, bool) or not isinstance(axis, str | int | float):
        raise ExpressionError(
            f"axis {index} is {quoted(axis)}: expected a number or a formula",
            f"第 {index} 轴（从 0 数起）为 {quoted(axis)}：应为数或公式",
        )
    if not isinstance(axis, str) and not abs(axis) <= MAX_CONSTANT:  # nan is not below either
        raise ExpressionError(
            f"axis {index} is {quoted(axis)}: expected at most 10**12",
            f"第 {index} 轴（从 0 数起）为 {quoted(axis)}：最大 10**12",
        )
    try:
        return parse(str(axis), names)
    except ExpressionError as error:
        raise ExpressionError(
            f"axis {index}: {error}", f"第 {index} 轴（从 0 数起）：{error.chinese}"
        ) from None
