"""The closed-book question: shapes in numbers and in letters."""

import pytest

from reference.errors import ShapeError
from reference.shapes import trace_shapes


def test_the_closed_book_sizes_give_the_shapes_of_the_chapter() -> None:
    shapes = trace_shapes(B=2, T=5, D=24, H=3)
    assert shapes["WQ"] == (24, 24)
    assert shapes["Q"] == (2, 3, 5, 8)
    assert shapes["A"] == (2, 3, 5, 5)
    assert shapes["Z"] == (2, 5, 24)
    assert shapes["WO"] == (24, 24)


def test_letters_give_letters() -> None:
    shapes = trace_shapes(T="T")
    assert shapes["Q"] == ("B", "H", "T", "D/H")
    assert shapes["A"] == ("B", "H", "T", "T")
    assert trace_shapes()["A"] == ("B", "H", "T_q", "T_k")


def test_one_letter_makes_every_shape_text() -> None:
    assert trace_shapes(B="B", T=5, D=24, H=3)["Q"] == ("B", "3", "5", "8")


def test_free_head_widths_make_the_projection_as_wide_as_all_heads_together() -> None:
    letters = trace_shapes(d_k="d_k", d_v="d_v")
    assert letters["WQ"] == ("D", "H*d_k")
    assert letters["WO"] == ("H*d_v", "D")
    numbers = trace_shapes(B=2, T=3, D=7, H=5, d_k=11, d_v=13)
    assert (numbers["WQ"], numbers["WV"], numbers["Z"]) == ((7, 55), (7, 65), (2, 3, 65))


def test_cross_attention_takes_its_rows_from_the_queries_and_its_columns_from_the_keys() -> None:
    shapes = trace_shapes(B=2, T_q=5, T_k=7, D=24, H=3)
    assert (shapes["A"], shapes["Z"], shapes["K"]) == ((2, 3, 5, 7), (2, 5, 24), (2, 3, 7, 8))


@pytest.mark.parametrize("sizes", [{"T_q": 0}, {"B": -1}, {"d_v": 0}, {"H": 0}])
def test_a_size_below_one_is_named(sizes: dict[str, int]) -> None:
    (name,) = sizes
    with pytest.raises(ShapeError, match=f"{name} must be at least 1"):
        trace_shapes(**{"B": 2, "T": 3, "D": 24, "H": 3, **sizes})


def test_heads_that_do_not_divide_the_width_are_refused_with_both_sizes() -> None:
    with pytest.raises(ShapeError, match=r"H=5 must divide D=24.*\(24,\).*\(5,\)"):
        trace_shapes(B=2, T=3, D=24, H=5)
