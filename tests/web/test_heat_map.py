"""Matrices as coloured cells, and colours that can be told apart and read."""

import math
import re
from importlib.resources import files

import pytest

from app.web.heat_map import heat_map

STYLE = (files("app.web") / "static" / "attest.css").read_text("utf-8")


def colours(values, **more) -> list[str]:
    return [cell.colour for cell in heat_map(values, **more).cells]


def test_a_matrix_without_negative_entries_runs_from_zero_to_its_largest():
    assert colours([[0, 0.25], [0.5, 1.0]]) == ["s0", "s2", "s4", "s8"]


def test_a_matrix_with_negative_entries_runs_from_negative_over_zero_to_positive():
    assert colours([[-2.0, -1.0, 0.0, 1.0]]) == ["d0", "d2", "d4", "d6"]


def test_what_is_compared_is_coloured_alike():
    assert colours([[0.5]], beside=[[1.0]]) == ["s4"]
    assert colours([[0.5]], beside=[[-1.0]]) == ["d6"]


def test_what_is_no_finite_number_has_its_own_colour_and_does_not_set_the_scale():
    found = heat_map([["nan", "inf", "-inf", 2.0, "(1+2j)"]])
    assert [cell.colour for cell in found.cells] == [*["cell-strange"] * 3, "s8", "cell-strange"]
    assert [cell.text for cell in found.cells] == ["nan", "inf", "-inf", "2", "(1+2j)"]
    assert found.has_strange


@pytest.mark.parametrize("values", [[[0.0, 0.0]], [["nan"]]])
def test_a_matrix_of_zeros_or_of_no_numbers_can_be_drawn(values):
    assert heat_map(values).largest == "0"


@pytest.mark.parametrize(("values", "shape"), [(3.0, (1, 1)), ([1, 2, 3], (1, 3)), (True, (1, 1))])
def test_numbers_and_vectors_are_matrices_of_one_row(values, shape):
    found = heat_map(values)
    assert (found.rows, found.columns) == shape


def test_wrong_cells_are_known_by_row_and_column():
    found = heat_map([[1, 2], [3, 4]], [[False, True], [True, False]])
    assert [(cell.row, cell.column) for cell in found.wrong] == [(0, 1), (1, 0)]


def test_a_large_matrix_is_drawn_without_numbers_and_never_beyond_64_rows_and_columns():
    found = heat_map([[0.5] * 97] * 89)
    assert (found.rows, found.columns) == (64, 64)
    assert not found.has_numbers
    assert heat_map([[0.5] * 7] * 5).has_numbers


@pytest.mark.parametrize("value", [0.123456, -1.23456e-5, -1.23456e100, 1e-300, 123456.7, -0.05554])
def test_every_number_fits_its_cell(value):
    (cell,) = heat_map([[value]]).cells
    assert len(cell.text) <= 9
    assert float(cell.text) == pytest.approx(value, rel=0.05)


# Colours


def pairs() -> dict[str, tuple[str, str]]:
    """The tokens of the style sheet: in light and in dark."""
    found = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", STYLE)
    return {name: (light, dark) for name, light, dark in found}


def luminance(colour: str) -> float:
    """Relative luminance, as WCAG 2.2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return math.fsum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    lower, higher = sorted((luminance(one), luminance(other)))
    return (higher + 0.05) / (lower + 0.05)


TEXT_ON = [
    *[("ink", ground) for ground in ("ground", "surface", "sunken", "idea", "mark")],
    *[("muted", ground) for ground in ("ground", "surface", "sunken", "code-ground", "idea")],
    *[("accent", ground) for ground in ("ground", "surface", "accent-soft", "idea", "mark")],
    *[(word, ground) for word in ("good", "bad", "wait") for ground in ("surface", f"{word}-soft")],
    ("on-accent", "accent"),
    ("on-pale", "void"),
    *[("on-deep" if n > 4 else "on-pale", f"s{n}") for n in range(9)],
    *[("on-deep" if n in (0, 1, 7, 8) else "on-pale", f"d{n}") for n in range(9)],
]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_can_be_read_on_its_ground_in_both_themes(theme):
    tokens = pairs()
    weak = {
        pair: round(found, 2)
        for pair in TEXT_ON
        if (found := contrast(tokens[pair[0]][theme], tokens[pair[1]][theme])) < 4.5
    }
    assert weak == {}


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_frames_and_borders_of_inputs_can_be_seen_in_both_themes(theme):
    tokens = pairs()
    assert contrast(tokens["line-strong"][theme], tokens["surface"][theme]) >= 3
    assert contrast(tokens["frame"][theme], tokens["surface"][theme]) >= 3
    assert contrast(tokens["frame"][theme], tokens["halo"][theme]) >= 3


def test_the_style_sheet_turns_the_number_over_on_the_same_cells_as_this_test():
    (rule,) = re.findall(r"\.heat-map :is\(([^)]+)\) text", STYLE)
    turned = {name.strip(" .") for name in rule.split(",")}
    assert turned == {pair[1] for pair in TEXT_ON if pair[0] == "on-deep"}
