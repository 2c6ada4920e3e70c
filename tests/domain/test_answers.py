import contextlib
import json
import math
import re

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.answers import (
    BooleanField,
    ChoiceField,
    ExpressionField,
    Field,
    IntegerField,
    MatrixField,
    NumberField,
    ShapeField,
    parse_answers,
    parse_json_object,
    read_number,
    shape_of,
)
from app.domain.expressions import Expression
from app.domain.quotation import quoted
from app.errors import UnreadableSubmission

FIELDS = {
    "A": MatrixField(type="matrix", shape=(2, 3)),
    "scale": NumberField(type="number"),
    "unchanged_row": IntegerField(type="integer"),
    "split": ShapeField(type="shape", names=("B", "H", "T", "D")),
    "flops": ExpressionField(type="expression", sizes={"B": 2, "T": 5}),
    "general": ChoiceField(type="choice", choices=("yes", "No", "仅方阵")),
    "leaks": BooleanField(type="boolean"),
}


def read(field, raw):
    return parse_answers(FIELDS, {field: raw})[field]


def refusal(raw, language="en"):
    with pytest.raises(UnreadableSubmission) as caught:
        parse_answers(FIELDS, raw)
    return one_sentence(caught.value, language)


def one_sentence(error, language="en", longest=400):
    """The sentence in one language, after a look at both."""
    english, chinese = error.told("en"), error.told("zh")
    assert english == str(error)
    assert re.search("[\u4e00-\u9fff]", chinese.rsplit("：")[-1])
    for message in (english, chinese):
        assert len(message.splitlines()) == 1
        assert len(message) < longest
    return chinese if language == "zh" else english


def json_refusal(data):
    with pytest.raises(UnreadableSubmission) as caught:
        parse_json_object(data)
    return one_sentence(caught.value, longest=300)


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ({"scale": "0,125"}, "字段 scale：'0,125' 不是一个数：请写 0.125，用小数点"),
        ({"unchanged_row": "4,800"}, "字段 unchanged_row：'4,800' 不是一个整数：请去掉逗号"),
        (
            {"A": [[1, "x"]]},
            "字段 A：元素 [0, 1]：'x' 不是一个数：应写作 0.125, 1/8 或 1.25e-1 之类",
        ),
        (
            {"flops": "8BT"},
            "字段 flops：'8BT'：因子之间请写 *，例如 8*B；或者 'BT' 之前应有别的运算符",
        ),
        (
            {"split": "[B, Q]"},
            "字段 split：第 1 轴（从 0 数起）：'Q'：没有名称 'Q'，可用的名称有 B, H, T, D",
        ),
        ({"scael": 1}, "没有字段 'scael'（是否指 'scale'？）；字段有 " + ", ".join(FIELDS)),
    ],
)
def test_a_refusal_is_told_in_chinese_too(raw, told):
    assert refusal(raw, "zh") == told


def test_every_type_of_field_is_read():
    answers = parse_answers(
        FIELDS,
        {
            "A": [[1, 0, 0], ["1/8", ".5", 0.375]],
            "scale": "1.25e-1",
            "unchanged_row": 2,
            "split": "[B, H, T, D/H]",
            "flops": "8*B*T",
            "general": "yes",
            "leaks": True,
        },
    )
    assert answers["A"] == ((1.0, 0.0, 0.0), (0.125, 0.5, 0.375))
    assert answers["scale"] == 0.125
    assert answers["unchanged_row"] == 2
    assert [str(axis) for axis in answers["split"]] == ["B", "H", "T", "D/H"]
    assert answers["flops"].evaluate({"B": 2, "T": 5}) == 80
    assert answers["general"] == "yes"
    assert answers["leaks"] is True


def test_a_field_that_is_not_answered_is_absent():
    assert parse_answers(FIELDS, {}) == {}
    assert set(parse_answers(FIELDS, {"leaks": False})) == {"leaks"}


def test_an_unknown_field_is_named_beside_the_nearest_and_all_others():
    message = refusal({"unchanged_raw": 2})
    assert "unknown field 'unchanged_raw' (did you mean 'unchanged_row'?)" in message
    assert "the fields are A, scale, unchanged_row, split, flops, general, leaks" in message


@pytest.mark.parametrize("raw", [[], "A", 3, None, [["A", 1]]])
def test_answers_that_are_no_object_are_refused(raw):
    assert "expected an object of fields" in refusal(raw)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("raw", [None, ""])
def test_an_empty_field_is_to_be_left_out(field, raw):
    assert refusal({field: raw}) == f"field {field} is empty: leave it out if you have no answer"


@pytest.mark.parametrize(
    "raw",
    [
        0.125,
        "0.125",
        ".125",
        "1/8",
        "1.25e-1",
        "1.25E-1",
        "0.1250",
        "+0.125",
        " 0.125 ",
        "０．１２５",
        "＋１／８",
        "1 / 8",
        "0.5/4",
    ],
)
def test_one_number_may_be_written_in_many_forms(raw):
    assert read("scale", raw) == 0.125


@pytest.mark.parametrize(
    ("raw", "value"), [("-1/8", -0.125), ("−2", -2.0), ("－７", -7.0), ("3.", 3.0), (-0.0, 0.0)]
)
def test_numbers_have_signs(raw, value):
    assert read("scale", raw) == value


@given(st.floats())
@settings(deadline=None)
def test_a_float_survives_being_written(value):
    assert read("scale", repr(value)) == pytest.approx(value, rel=0, abs=0, nan_ok=True)


@pytest.mark.parametrize("raw", ["nan", "NaN", "-nan", math.nan])
def test_nan_is_read_and_judged_later(raw):
    assert math.isnan(read("scale", raw))
    assert math.isnan(read("unchanged_row", raw))
    assert math.isnan(read("A", [[raw]])[0][0])


@pytest.mark.parametrize("raw", ["inf", "+Infinity", "Inf", math.inf])
def test_infinity_is_read_and_judged_later(raw):
    assert read("scale", raw) == math.inf
    assert read("unchanged_row", raw) == math.inf
    assert read("A", [raw, "-inf"]) == (math.inf, -math.inf)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ("12.5%", "'12.5%' is not one number: write 0.125, without a percent sign"),
        ("１２．５％", "write 0.125"),
        ("0,125", "'0,125' is not one number: write 0.125, with a decimal point"),
        ("4,800", "'4,800' is not one number: write 4800, without commas"),
        ("4，800", "write 4800, without commas"),
        ("-1,234,567.5", "write -1234567.5, without commas"),
        ("1,5", "write 1.5, with a decimal point"),
        ("1,5000", "write 1.5000, with a decimal point"),
        ("1,00,000", "expected a form such as"),
        ("0.125 or 0.25", "expected a form such as"),
        ("1/sqrt(64)", "expected a form such as"),
        ("1/2/4", "expected a form such as"),
        ("1_000", "expected a form such as"),
        ("0x10", "expected a form such as"),
        ("1e", "expected a form such as"),
        (".", "expected a form such as"),
        ("10²", "expected a form such as"),
        ("٣", "expected a form such as"),
        ("  ", "expected a form such as"),
        ("9**9**9", "expected a form such as"),
        ("__import__('os').getpid()", "expected a form such as"),
        ("0.5\u202e\x1b", r"'0.5\u202e\x1b'"),
        ("1/0", "divides by zero"),
        ("1e999", "too large"),
        ("1e308/1e-9", "too large"),
        ("1e" + "9" * 90, "too large"),
        ("9" * 5000, "too long"),
        (10**400, "a very long integer is too large"),
        (10**5000, "a very long integer is too large"),
        (True, "True is not a number"),
        ([1], "[1] is not a number"),
        ({"a": 1}, "is not a number"),
    ],
    ids=quoted,
)
def test_what_is_not_one_number_is_refused(raw, problem):
    message = refusal({"scale": raw})
    assert message.startswith("field scale: ")
    assert problem in message


def number_or_none(text):
    try:
        return read_number(text)
    except ValueError:
        return None


def test_the_shared_forms_of_a_number_get_their_fair_reading(shared):
    lines = (shared / "cases/114-answer-number-forms/answers.txt").read_text("utf-8").splitlines()
    readable = {line: value for line in lines if (value := number_or_none(line)) is not None}
    right = ["0.125", ".125", "1/8", "1.25e-1", "0.1250", "+0.125", "０．１２５"]
    assert [line for line, value in readable.items() if value == 0.125] == right
    assert set(readable) - set(right) == {"0.13", "8", "nan", "inf"}


@pytest.mark.parametrize("raw", [7, "7", 7.0, "7.0", "14/2", "+7", " ７ ", "0.7e1", "0" * 30 + "7"])
def test_a_whole_number_may_be_written_in_many_forms(raw):
    value = read("unchanged_row", raw)
    assert value == 7
    assert type(value) is int


def test_a_long_whole_number_is_exact():
    assert read("unchanged_row", str(2**63 - 1)) == read("unchanged_row", 2**63 - 1) == 2**63 - 1


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (2.5, "2.5 is not a whole number"),
        ("5/2", "'5/2' is not a whole number"),
        (True, "True is not a number"),
        ("two", "is not one number"),
        ("4,800", "'4,800' is not one whole number: leave the comma out"),
        ("４，８００", "leave the comma out"),
        ("48,00,000", "leave the comma out"),
        ("4,8", "leave the comma out"),
        ("4,800.0", "write 4800.0, without commas"),
        (2**63, "too large"),
        (10**5000, "too large"),
        ("9" * 20, "too large"),
        (1e300, "too large"),
    ],
    ids=quoted,
)
def test_what_is_not_a_whole_number_is_refused(raw, problem):
    assert problem in refusal({"unchanged_row": raw})


@pytest.mark.parametrize(
    ("raw", "shape"),
    [
        ([[1, 2, 3], [4, 5, 6]], (2, 3)),
        ([[1, 2], [3, 4], [5, 6]], (3, 2)),
        ([1, 2, 3], (3,)),
        ([[[1], [2]]], (1, 2, 1)),
        ([], (0,)),
        ([[], []], (2, 0)),
    ],
)
def test_a_matrix_of_another_shape_is_read_and_judged_later(raw, shape):
    assert shape_of(read("A", raw)) == shape


def nested(depth):
    part = 1
    for _ in range(depth):
        part = [part]
    return part


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ([[1], [2, 3]], "ragged: [1] has shape [2] and [0] has [1]"),
        ([[1, 2], 3], "ragged: [1] has shape []"),
        ([[[1], [2]], [[3], [4, 5]]], "ragged: [1, 1] has shape [2]"),
        ([[1, "x"]], "entry [0, 1]: 'x' is not one number"),
        ([[1, 0], [True, 0]], "entry [1, 0]: True is not a number"),
        ([[None]], "entry [0, 0]: None is not a number"),
        ([[{}]], "entry [0, 0]: {} is not a number"),
        ("[[1, 2]]", "is not a matrix"),
        (3, "is not a matrix"),
        ({"0": [1]}, "is not a matrix"),
        ([[0] * 1000] * 1000, "more than 10000 entries"),
        ([[]] * 1_000_000, "more than 10000 entries"),
        ([0] * 1_000_000, "more than 10000 entries"),
        (nested(9), "deeper than 8 lists"),
        (nested(5000), "deeper than 8 lists"),
    ],
    ids=quoted,
)
def test_what_is_not_a_matrix_is_refused(raw, problem):
    message = refusal({"A": raw})
    assert message.startswith("field A: ")
    assert problem in message


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (5, "is not a shape"),
        ({"B": 1}, "is not a shape"),
        (["B", "Q"], "axis 1: 'Q': unknown name"),
        (["B", True], "axis 1 is True"),
    ],
    ids=quoted,
)
def test_what_is_not_a_shape_is_refused(raw, problem):
    message = refusal({"split": raw})
    assert message.startswith("field split: ")
    assert problem in message


@pytest.mark.parametrize(("raw", "value"), [(46080, 46080), (0.5, 0.5), ("B*T", 10)])
def test_a_formula_may_be_a_number(raw, value):
    formula = read("flops", raw)
    assert isinstance(formula, Expression)
    assert formula.evaluate({"B": 2, "T": 5}) == value


@pytest.mark.parametrize(
    "raw", [True, [1], {}, math.nan, math.inf, 10**5000, 1e20, "8BT", "b*T"], ids=quoted
)
def test_what_is_not_a_formula_is_refused(raw):
    assert refusal({"flops": raw}).startswith("field flops: ")


def test_a_field_allows_its_names_or_those_of_its_sizes():
    assert FIELDS["split"].allowed_names == ("B", "H", "T", "D")
    assert FIELDS["flops"].allowed_names == ("B", "T")
    assert ShapeField(type="shape").allowed_names == ()


@pytest.mark.parametrize(
    ("raw", "choice"),
    [("yes", "yes"), (" YES ", "yes"), ("no", "No"), ("ｎｏ", "No"), ("仅方阵", "仅方阵")],
)
def test_a_choice_is_given_back_as_the_problem_spells_it(raw, choice):
    assert read("general", raw) == choice


@pytest.mark.parametrize("raw", ["maybe", "y", True, 1, ["yes"], "yes" + " " * 2000 + "x"])
def test_what_is_not_a_choice_is_refused_with_the_choices(raw):
    assert "expected one of 'yes', 'No', '仅方阵'" in refusal({"general": raw})


@pytest.mark.parametrize(
    ("raw", "truth"),
    [(True, True), (False, False), ("True", True), ("false", False), ("yes", True), (" NO", False)],
)
def test_a_truth_value_may_be_a_word(raw, truth):
    assert read("leaks", raw) is truth


@pytest.mark.parametrize("raw", [1, 0, "1", "ja", [True], math.nan])
def test_what_is_not_a_truth_value_is_refused(raw):
    assert "is not true or false" in refusal({"leaks": raw})


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda part: (
        st.lists(part, max_size=4) | st.dictionaries(st.text(max_size=3), part, max_size=3)
    ),
    max_leaves=12,
)


@given(field=st.sampled_from(sorted(FIELDS)), raw=anything)
@settings(deadline=None)
def test_any_json_value_is_read_or_refused_in_one_sentence(field, raw):
    with contextlib.suppress(UnreadableSubmission):
        assert set(parse_answers(FIELDS, {field: raw})) == {field}
        return
    assert refusal({field: raw}).startswith(f"field {field}")


def test_a_json_object_is_read_with_or_without_a_byte_order_mark():
    data = '{"A": [[1, 0.5]], "text": "注意力", "x": NaN, "y": -Infinity}'.encode()
    for found in (parse_json_object(data), parse_json_object(b"\xef\xbb\xbf" + data)):
        assert math.isnan(found.pop("x"))
        assert found == {"A": [[1, 0.5]], "text": "注意力", "y": -math.inf}


def test_an_integer_of_as_many_digits_as_python_prints_is_read():
    assert parse_json_object(b'{"x": %s}' % (b"9" * 4300)) == {"x": 10**4300 - 1}


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "line 1, column 1"),
        (b"nul", "line 1, column 1"),
        (b'{"x":\n 1/8}', "line 2, column 3: Expecting ',' delimiter; forms such as \"1/8\""),
        (b"{} {}", "Extra data"),
        (b"{}\0", "Extra data"),
        (b"[1, 2]", "the JSON is [1, 2]: expected an object"),
        (b'"A"', "expected an object"),
        (b"9" * 4300, "a very long integer"),
        (b'{"x": 1, "y": 2, "x": 3}', "the key 'x' stands twice"),
        (b'{"y": [{"x": 1, "x": 1}]}', "the key 'x' stands twice"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"x":' * 100_000, "nested too deeply"),
        (b'{"x": "\xff"}', "byte 7 is not UTF-8"),
        ('{"x": 1}'.encode("utf-16"), "byte 0 is not UTF-8"),
        (b'{"x": %s}' % (b"9" * 4301), "more than 4300 digits"),
        (b'{"x": -%s}' % (b"9" * 4301), "more than 4300 digits"),
        (b'{"x": 1e999}', "the JSON number 1e999 is too large"),
        (b'{"x": 1.%s}' % (b"9" * 100_000 + b"e999"), "is too large"),
        (rb'{"x": "\ud800"}', r"holds '\ud800'"),
        (rb'{"\ud800": 1}', r"holds '\ud800'"),
        (rb'{"x": "\u0000"}', r"holds '\x00'"),
    ],
    ids=quoted,
)
def test_what_is_not_one_json_object_is_refused(data, problem):
    assert problem in json_refusal(data)


def test_a_pair_of_surrogates_is_one_character():
    assert parse_json_object(json.dumps({"text": "𝟗"}).encode()) == {"text": "𝟗"}


field_adapter = pydantic.TypeAdapter(Field)


@pytest.mark.parametrize(
    "declared",
    [
        {"type": "matrix", "shape": [2, 3], "label": {"en": "Weights", "zh": "权重"}},
        {"type": "number"},
        {"type": "integer"},
        {"type": "shape", "names": ["B", "T"]},
        {"type": "expression", "names": ["d", "mu"], "sizes": {"d": 3, "mu": -0.5}},
        {"type": "choice", "choices": ["yes", "no"]},
        {"type": "boolean"},
    ],
)
def test_every_type_of_field_can_be_declared(declared):
    field = field_adapter.validate_python(declared)
    plain = field_adapter.dump_python(field, mode="json", exclude_defaults=True)
    assert plain == declared


@pytest.mark.parametrize(
    ("declared", "problem"),
    [
        ({"type": "matrix", "shape": [2], "shpae": [2]}, "shpae"),
        ({"type": "matrix"}, "shape"),
        ({"type": "number", "choices": ["a"]}, "choices"),
        ({"type": "shape", "names": ["d-k"]}, "'d-k' cannot name a size"),
        ({"type": "expression", "names": ["sqrt"]}, "'sqrt' cannot name a size"),
        ({"type": "expression", "sizes": {"2B": 1}}, "'2B' cannot name a size"),
        ({"type": "shape", "names": ["B", "T"], "sizes": {"B": 2}}, "no value for T"),
        ({"type": "number", "label": {"de": "Zahl"}}, "label"),
    ],
)
def test_a_wrong_declaration_is_refused(declared, problem):
    with pytest.raises(pydantic.ValidationError) as caught:
        field_adapter.validate_python(declared)
    assert problem in str(caught.value)
