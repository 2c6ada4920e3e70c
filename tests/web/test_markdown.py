"""Statements: markdown, formulas, and nothing that could act."""

import pytest

from app.web.markdown import rendered, rendered_inline


def test_a_formula_becomes_mathml():
    assert rendered("$A_{ij}$") == (
        '<p><math display="inline"><mrow><msub><mi>A</mi>'
        "<mrow><mi>i</mi><mi>j</mi></mrow></msub></mrow></math></p>\n"
    )


def test_a_formula_between_two_dollars_stands_alone():
    assert '<math display="block">' in rendered("$$x$$")


def test_a_formula_keeps_backslashes_and_stars_and_may_run_over_a_line():
    page = rendered("$a * b \\\\\n * c$ and *this*")
    assert "<em>this</em>" in page
    assert page.count("<em>") == 1


@pytest.mark.parametrize(
    "text", ["5$ and 6$", "$ 5 and 6 $", "it costs $5 or $6", "a lone $", "$$"]
)
def test_prices_are_no_formulas(text):
    assert rendered_inline(text) == text


def test_dollars_in_code_are_no_formula():
    assert rendered_inline("`$x$`") == "<code>$x$</code>"


def test_a_formula_that_cannot_be_read_is_shown_as_written():
    assert rendered_inline("$\\begin{x$") == "<code>\\begin{x</code>"


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<b onclick=alert(1)>x</b>",
        "[x](javascript:alert(1))",
        "![x](https://elsewhere/picture.png)",
        "$\\text{<script>alert(1)</script>}$",
        "$\\href{javascript:alert(1)}{x}$",
        "$\\style{color:red}{x}$",
    ],
)
def test_markup_in_a_statement_is_no_markup(text):
    page = rendered(text)
    for danger in ("<script", "<b", "<img", "href=", "style="):
        assert danger not in page


def test_tables_and_links_are_kept():
    assert "<table>" in rendered("|a|b|\n|-|-|\n|1|2|")
    assert 'href="https://example.org"' in rendered("[x](https://example.org)")
