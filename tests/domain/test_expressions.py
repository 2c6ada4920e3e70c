import contextlib
import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.expressions import (
    ExpressionError,
    equal,
    first_wrong_axis,
    is_name,
    parse,
    parse_shape,
)
from app.domain.quotation import quoted

NAMES = ("B", "T", "D", "H", "d", "T_q")
SIZES = {"B": 3, "T": 7, "D": 22, "H": 11, "d": 2, "T_q": 5}
VALUES = {name: Fraction(size) for name, size in SIZES.items()}


def complaint_about(text, names=NAMES):
    with pytest.raises(ExpressionError) as caught:
        parse(text, names)
    english, chinese = str(caught.value), caught.value.told("zh")
    for message in (english, chinese):
        assert "\n" not in message
        assert len(message) < 400
    assert re.search("[\u4e00-\u9fff]", chinese)
    return english


def same(a, b, **how):
    return equal(parse(a, NAMES), parse(b, NAMES), **how)


@pytest.mark.parametrize(
    "text",
    [
        "B-T-D",
        "B-T+D",
        "B/T/D",
        "B/T*D",
        "B+T*D",
        "(B+T)*D",
        "-B**2",
        "(-B)**2",
        "B**d_two",
        "B--T",
        "B*-T",
        "+B",
        "B**-2",
        "T_q*(B + (T - D)/H)**3",
    ],
)
def test_signs_bind_as_in_python(text):
    text = text.replace("d_two", "2")
    assert parse(text, NAMES).evaluate(SIZES) == eval(text, {}, dict(VALUES))


formulas = st.recursive(
    st.sampled_from(NAMES),
    lambda part: st.one_of(
        st.builds("{}{}{}".format, part, st.sampled_from("+-*/"), part),
        st.builds("({})".format, part),
        st.builds("-{}".format, part),
        st.builds("({})**{}".format, part, st.integers(-2, 3)),
    ),
    max_leaves=6,
)


@given(formulas)
@settings(deadline=None)
def test_any_formula_has_the_value_that_fraction_arithmetic_gives(text):
    try:
        ours = parse(text, NAMES).evaluate(SIZES)
    except ExpressionError as error:
        if "degree" in str(error):
            return
        with pytest.raises(ZeroDivisionError):
            eval(text, {}, dict(VALUES))
    else:
        assert ours == eval(text, {}, dict(VALUES))


@given(st.text(max_size=40) | st.text("BTD123()*+-/.e, [^", max_size=40))
@settings(deadline=None)
def test_any_text_is_a_formula_or_one_sentence(text):
    with contextlib.suppress(ExpressionError):
        assert parse(text, NAMES).text == text.strip()
        return
    assert complaint_about(text)


def test_a_formula_keeps_its_text_and_the_names_in_it():
    formula = parse(" 8*B*T*D**2 ", NAMES)
    assert str(formula) == "8*B*T*D**2"
    assert formula.names == {"B", "T", "D"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("46080", 46080),
        ("1.5", Fraction(3, 2)),
        (".5", Fraction(1, 2)),
        ("2e3", 2000),
        ("1.25e-1", Fraction(1, 8)),
        ("2**12", 4096),
        ("-2**-3", Fraction(-1, 8)),
        ("0.3333333333333333", Fraction(3333333333333333, 10**16)),
        ("１２＊（３＋４）", 84),
        ("7 − 2", 5),
    ],
)
def test_numbers_are_exact(text, value):
    assert parse(text, ()).evaluate({}) == value


def test_full_width_names_and_signs_are_read():
    assert parse("（Ｂ＋Ｔ）／Ｄ", NAMES).evaluate(SIZES) == Fraction(10, 22)


def test_a_float_size_is_taken_exactly():
    assert parse("d*(1+2*mu**2)", ("d", "mu")).evaluate({"d": 3, "mu": -0.5}) == Fraction(9, 2)


def test_a_missing_size_is_our_mistake_and_not_the_students():
    with pytest.raises(KeyError):
        parse("B*T", NAMES).evaluate({"B": 3})


def test_the_root_of_a_square_is_exact():
    assert parse("sqrt(4/9)", ()).evaluate({}) == Fraction(2, 3)


@pytest.mark.parametrize("number", ["2", "3*10**11", "7/10**12*10**-12"])
def test_other_roots_have_many_digits_at_any_size(number):
    value = parse(number, ()).evaluate({})
    root = parse(f"sqrt({number})", ()).evaluate({})
    assert root**2 != value
    assert abs(root**2 / value - 1) < Fraction(1, 2**250)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("B/(T-7)", "divides by zero at B=3, T=7"),
        ("(D-22)**-1", "divides by zero at D=22"),
        ("sqrt(B-T)", "square root of a negative number at B=3, T=7"),
    ],
)
def test_a_formula_without_a_value_says_where(text, problem):
    with pytest.raises(ExpressionError, match=problem):
        parse(text, NAMES).evaluate(SIZES)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("8*B*T*D**2", "2*B*T*D*(4*D)"),
        ("B*T", "T*B"),
        ("4*D**2+4*D", "4*D*(D+1)"),
        ("(D/H)*H", "D"),
        ("D**2/D", "D"),
        ("(B-T)**2", "B**2-2*B*T+T**2"),
        ("sqrt(d)*sqrt(d)/d", "1"),
        ("1/sqrt(D)", "sqrt(D)/D"),
        ("sqrt(D+1)-sqrt(D)", "1/(sqrt(D+1)+sqrt(D))"),
        ("D*(B-2)/(B-2)", "D"),
    ],
)
def test_equivalent_formulas_are_equal(a, b):
    for seed in range(20):
        assert same(a, b, seed=seed)
        assert same(b, a, seed=seed)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("B", "T"),
        ("4*D**2", "4*D**2/H"),
        ("8*B*T*D**2", "4*B*T*D**2"),
        ("D**12*D**12", "D**12*D**12+1"),
        ("10**12*D", "10**12*D+1"),
        ("sqrt(d)", "d"),
        ("sqrt(d)", "sqrt(d)+1e-30"),
        ("sqrt((D-9000)**2)", "D-9000"),
        ("1/(D-D)", "1/(D-D)"),
        ("sqrt(-D)", "sqrt(-D)"),
    ],
)
def test_different_formulas_are_not_equal(a, b):
    for seed in range(20):
        assert not same(a, b, seed=seed)


def test_equality_at_given_points_follows_what_binds_the_sizes():
    bound = [{"D": H * d, "H": H, "d": d} for H, d in [(2, 3), (5, 7), (3, 11)]]
    assert same("4*D*H*d", "4*(H*d)**2", points=bound)
    assert not same("4*D*H*d", "4*(H*d)**2")
    assert not same("4*D*H", "4*(H*d)**2", points=bound)


def test_one_differing_point_is_enough():
    assert not same("d**2", "d", points=[{"d": 1}, {"d": 2}])
    assert same("d**2", "d", points=[{"d": 1}])


def test_a_formula_without_a_value_at_a_given_point_is_not_equal_there():
    assert not same("D/(D-5)", "D/(D-5)", points=[{"D": 7}, {"D": 5}])


def test_comparing_at_no_points_is_refused():
    with pytest.raises(ValueError, match="no points"):
        same("B", "T", points=[])


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("D^2", r"write ** for a power"),
        ("8BTD^2", "write ** for a power; write * between factors"),
        ("8BTD", "write * between factors, as in 8*B"),
        ("8*BTD", "write B*T*D for the product BTD"),
        ("T_qd", "write T_q*d for the product"),
        ("B(T+1)", "write * between factors"),
        ("(B)(T)", "write * between factors"),
        ("B T", "write * between factors"),
        ("B×T", "write * for a product"),
        ("B·T", "write * for a product"),
        ("D²", "write **2"),
        ("B÷T", "write / for a quotient"),
        ("√D", "write sqrt(x)"),
        ("sqrt D", "write sqrt(x)"),
        ("D**0.5", "write sqrt(x)"),
        ("D**(1/2)", "write sqrt(x)"),
        ("N=B*T", "without ="),
        ("3,5", "decimal point"),
        ("46,080*B", "without commas in its numbers"),
        (r"\frac{1}{2}", "not LaTeX"),
    ],
)
def test_common_ways_of_writing_get_a_hint(text, hint):
    assert hint in complaint_about(text)


def test_an_unknown_name_is_named_beside_the_nearest_and_the_allowed_ones():
    message = complaint_about("2*T_Q")
    assert "unknown name 'T_Q' (did you mean 'T_q'?)" in message
    assert "the names are B, T, D, H, d, T_q" in message


def test_without_names_only_numbers_are_expected():
    assert "expected numbers only" in complaint_about("2*B", ())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("B*", "expected a number or a name at the end"),
        ("*B", "before '*'"),
        ("(B", "a ')' is missing"),
        ("B)", "a '(' is missing"),
        ("()", "before ')'"),
        ("B//T", "before '/'"),
        ("1/0", "divides by zero"),
        ("2*(3-3)**-1", "divides by zero"),
        ("exp(1)", "'exp' cannot be called"),
        ("D**13", "exponent"),
        ("D**-13", "exponent"),
        ("2**D", "exponent"),
        ("D**1.25", "exponent"),
        ("(D**5)**5", "degree"),
        ("1/D**12/T**12/B", "degree"),
        ("+".join(f"1/(D+{n})" for n in range(25)), "degree"),
        ("B**12*T**12*D", "degree"),
        ("(sqrt(2)**12)**12", "degree"),
        ("1000000000001", "out of range"),
        ("10**12*10", "out of range"),
        ("1e-31", "out of range"),
    ],
)
def test_what_cannot_be_read_is_said(text, problem):
    assert problem in complaint_about(text)


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9",
        "9**(9**9)",
        "10**10**10",
        "((10**12)**12)**12",
        "1e999",
        "1e" + "9" * 290,
        "9" * 300,
        "(" * 150 + "1" + ")" * 149,
        "(" * 300,
        "-" * 299 + "1",
        "sqrt(" * 50,
        "2**" * 99 + "1",
        "B" * 300,
        "B*" * 100_000,
        "__import__('os').system('true')",
        "().__class__",
        "B.real",
        "B[0]",
        "lambda: 1",
        "[x for x in 1]",
        "B if T else D",
        "'\\d'",
        "1if 1else 2",
        "1_000",
        "1j",
        "0x1f",
        "f'{1}'",
        "B#",
        "B;T",
        "B\\\nT",
        "\0",
        "\ud800",
        "\u202eB",
        "ℍ",
        "𝟗",
        "None",
        "True",
    ],
    ids=quoted,
)
def test_code_and_bombs_end_in_one_sentence(text):
    assert complaint_about(text).startswith(("'", '"'))


@pytest.mark.parametrize(
    "text",
    [
        "+".join(f"1/sqrt(D+{n})" for n in range(18)),
        "+".join(f"1/sqrt({n})" for n in range(2, 26)),
        "((sqrt(2)+999999999999*D)**12)*((sqrt(3)+.123456789012345678901234567)**12)",
        "sqrt(" * 29 + "D" + ")" * 29,
        "+".join(["D"] * 150),
    ],
    ids=quoted,
)
def test_the_heaviest_formulas_that_are_read_can_be_compared(text):
    assert same(text, text)


@pytest.mark.parametrize("text", ["D**-12*D**12*D**12", "D**12*T**12/B**12/H**12", "1/B+1/T+1/D"])
def test_numerator_and_denominator_each_have_their_degree(text):
    assert parse(text, NAMES).evaluate(SIZES) == eval(text, {}, dict(VALUES))


def test_a_name_is_what_a_formula_can_use():
    assert is_name("T_q")
    assert not any(map(is_name, ["", "d-k", "2d", "μ", "sqrt", "B "]))


@pytest.mark.parametrize(
    "raw",
    [
        "[B, H, T, D/H]",
        "(B,H,T,D/H)",
        "B, H, T, D/H",
        " [ B , H , T , D / H ] ",
        "［Ｂ，Ｈ，Ｔ，Ｄ／Ｈ］",
        "[B, H, T, D/H,]",
        ["B", "H", "T", "D/H"],
        ("B", "H", "T", "D/H"),
    ],
)
def test_a_symbolic_shape_may_be_written_in_many_ways(raw):
    axes = [axis.evaluate(SIZES) for axis in parse_shape(raw, NAMES)]
    assert axes == [3, 11, 7, 2]


@pytest.mark.parametrize("raw", ["[2, 3, 5]", "2,3,5", [2, 3, 5], [2.0, "3", "10/2"]])
def test_a_shape_may_be_written_in_numbers(raw):
    assert [axis.evaluate({}) for axis in parse_shape(raw, ())] == [2, 3, 5]


@pytest.mark.parametrize("raw", ["[]", "()", []])
def test_the_shape_of_a_scalar_has_no_axes(raw):
    assert parse_shape(raw, NAMES) == ()


def test_parentheses_inside_a_shape_are_not_its_own():
    axes = parse_shape("(D/H), (T+1)", NAMES)
    assert [axis.evaluate(SIZES) for axis in axes] == [2, 8]


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ("[B, q]", "axis 1: 'q'"),
        ("[B,,T]", "axis 1: '': empty"),
        ("[B, T", "one pair of brackets"),
        ("[[1, 2], [3]]", "one pair of brackets"),
        ("[" * 500, "one pair of brackets"),
        ("2x3x5", "separate the axes by commas"),
        ("B × T", "separate the axes by commas"),
        ("B," * 30, "at most 16"),
        ("B," * 30_000, "too long"),
        ([True], "axis 0 is True"),
        ([3, None], "axis 1 is None"),
        ([[3]], r"axis 0 is [3]"),
        ([10**5000], "a very long integer"),
        ([float("nan")], "axis 0 is nan"),
        ([float("inf")], "axis 0 is inf"),
        (["B"] * 17, "17 axes"),
    ],
    ids=quoted,
)
def test_an_unreadable_shape_is_said(raw, problem):
    with pytest.raises(ExpressionError) as caught:
        parse_shape(raw, NAMES)
    assert problem in str(caught.value)
    assert len(str(caught.value)) < 300
    assert re.search("[\u4e00-\u9fff]", caught.value.told("zh"))


@pytest.mark.parametrize(
    ("answer", "axis"),
    [
        ("[B, H, T, D/H]", None),
        ("[B, H*1, T, D/H]", None),
        ("[B, T, H, D/H]", 1),
        ("[B, H, T, D]", 3),
        ("[B, H, T]", 3),
        ("[B, H, T, D/H, 1]", 4),
        ("[B, T, D]", 1),
        ("[]", 0),
        ("[2, 3, 5, 8]", 0),
    ],
)
def test_the_first_wrong_axis_is_found(answer, axis):
    expected = parse_shape("[B, H, T, D/H]", NAMES)
    assert first_wrong_axis(parse_shape(answer, NAMES), expected) == axis


def test_numbers_and_names_agree_at_fixed_sizes():
    expected = parse_shape("[B, H, T, D/H]", NAMES)
    assert first_wrong_axis(parse_shape([3, 11, 7, 2], ()), expected, points=[SIZES]) is None
    assert first_wrong_axis(parse_shape([3, 7, 11, 2], ()), expected, points=[SIZES]) == 1


def test_a_shape_is_compared_at_sizes_that_obey_a_constraint():
    points = [{"D": H * d, "H": H, "d": d} for H, d in [(2, 3), (5, 7)]]
    answer, expected = parse_shape("[H, d]", NAMES), parse_shape("[H, D/H]", NAMES)
    assert first_wrong_axis(answer, expected, points=points) is None
    assert first_wrong_axis(answer, expected) == 1
