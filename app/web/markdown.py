"""Statements of problems: markdown with formulas between dollar signs, as HTML and MathML.

Whoever writes a problem is trusted less than this program: what comes out is cleaned.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from html import escape
from typing import Any

import nh3
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markupsafe import Markup

TEXT_TAGS = frozenset(
    {"a", "blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "hr", "li", "ol", "p", "pre"}
    | {"s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"}
)
MATH_TAGS = frozenset(
    {"math", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom", "mroot"}
    | {"mrow", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext"}
    | {"mtr", "munder", "munderover", "menclose"}
)
ATTRIBUTES = {
    "a": {"href", "title"},
    "math": {"display"},
    "mi": {"mathvariant"},
    "mo": {"stretchy", "fence", "form", "separator", "minsize", "maxsize", "movablelimits"},
    "mspace": {"width"},
    "mtable": {"columnalign", "columnspacing", "rowspacing"},
    "mtd": {"columnalign"},
    "ol": {"start"},
}
# latex2mathml raises whatever its parser stumbles over; a formula is then shown as it was written.


@lru_cache(maxsize=512)
def rendered(text: str) -> Markup:
    """``text`` as paragraphs of clean HTML."""
    return _clean(_parser().render(text))


@lru_cache(maxsize=512)
def rendered_inline(text: str) -> Markup:
    """``text``, one sentence or a few, without a paragraph around it."""
    return _clean(_parser().renderInline(text))


def _clean(html: str) -> Markup:
    tags = set(TEXT_TAGS | MATH_TAGS)
    attributes: dict[str, set[str]] = {tag: set(names) for tag, names in ATTRIBUTES.items()}
    clean = nh3.clean(html, tags=tags, attributes=attributes, url_schemes={"http", "https"})
    return Markup(clean)  # noqa: S704 - just cleaned


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.inline.ruler.before("escape", "formula", _formula)
    parser.add_render_rule("formula", _render_formula)
    return parser


def _formula(state: StateInline, silent: bool) -> bool:
    """``$…$`` or ``$$…$$`` from the cursor on, as pandoc reads them: no blank inside the dollars,
    no digit after the closing one, so that prices stay prices."""
    text, start = state.src, state.pos
    if text[start] != "$":
        return False
    mark = "$$" if text.startswith("$$", start) else "$"
    inside = start + len(mark)
    end = text.find(mark, inside)
    if end <= inside or not _is_formula(text, inside, end, mark):
        return False
    if not silent:
        token = state.push("formula", "math", 0)
        token.content, token.markup = text[inside:end], mark
    state.pos = end + len(mark)
    return True


def _is_formula(text: str, inside: int, end: int, mark: str) -> bool:
    if mark == "$$":
        return True
    after = text[end + 1 : end + 2]
    return not (text[inside].isspace() or text[end - 1].isspace() or after.isdigit())


def _render_formula(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _env: Any
) -> str:
    token = tokens[index]
    display = "block" if token.markup == "$$" else "inline"
    return _mathml(token.content, display) or f"<code>{escape(token.content)}</code>"


def _mathml(latex: str, display: str) -> str:
    to_mathml: Callable[..., str] = convert
    try:
        return to_mathml(latex, display=display)
    except Exception:  # noqa: BLE001 - see above
        return ""
