import pytest

from app.domain.quotation import did_you_mean, half_width, quoted


@pytest.mark.parametrize(
    "value",
    [
        "x" * 10_000,
        ["x" * 100] * 1000,
        [[[[[[1]]]]]],
        {"k" * 100: "v" * 100},
        pytest.param(10**10_000, id="integer"),
        pytest.param([[10**10_000]], id="integer in lists"),
        "\n" * 99,
    ],
)
def test_a_quotation_is_short_and_on_one_line(value):
    assert len(quoted(value)) <= 60
    assert len(quoted(value).splitlines()) == 1


def test_a_quotation_escapes_what_could_turn_or_hide_the_sentence():
    assert quoted("a\u202eb\x1b[2J\n\ud800") == r"'a\u202eb\x1b[2J\n\ud800'"


def test_a_short_value_is_quoted_whole():
    assert quoted("注意力") == "'注意力'"
    assert quoted([1, 2.5]) == "[1, 2.5]"


def test_the_nearest_known_word_is_offered_whatever_its_case():
    assert did_you_mean("t_Q", ["B", "T_q"]) == (
        " (did you mean 'T_q'?)",
        "（是否指 'T_q'？）",
    )
    assert (
        did_you_mean("unchangd_row", ["A", "unchanged_row"])[0]
        == " (did you mean 'unchanged_row'?)"
    )


def test_nothing_is_offered_if_no_word_is_near():
    assert did_you_mean("x", ["A", "Z"]) == ("", "")
    assert did_you_mean("q" * 100_000, ["A"]) == ("", "")


def test_full_width_signs_become_ascii_and_exponents_stay():
    assert half_width("－１．５　（Ｂ）−²") == "-1.5 (B)-²"
