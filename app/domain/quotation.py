"""Student text inside our sentences: cut, escaped, and beside the nearest word we know."""

import difflib
import reprlib
from collections.abc import Iterable

QUOTED_CHARACTERS = 60


class _ShortLiteral(reprlib.Repr):
    def repr_int(self, value: int, _level: int) -> str:
        if abs(value) >= 10**QUOTED_CHARACTERS:
            return "a very long integer"  # Python refuses to print one of more than 4300 digits
        return repr(value)


_short = _ShortLiteral()
_short.maxstring = _short.maxother = QUOTED_CHARACTERS
_short.maxlist = _short.maxtuple = _short.maxdict = 4
_short.maxlevel = 3

_HALF_WIDTH: dict[int, int | str] = {0xFF01 + offset: 0x21 + offset for offset in range(94)}
_HALF_WIDTH |= {0x3000: " ", 0x2212: "-"}  # the ideographic space and the typographic minus


def quoted(value: object) -> str:
    """``value`` as a short Python literal: control and direction characters are escaped."""
    literal = _short.repr(value)
    if len(literal) <= QUOTED_CHARACTERS:
        return literal
    return literal[: QUOTED_CHARACTERS - 1] + "…"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that ``word`` is probably meant to be, whatever its case, or None."""
    by_folded = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(word[:QUOTED_CHARACTERS].casefold(), by_folded, n=1)
    return by_folded[near[0]] if near else None


def did_you_mean(word: str, known: Iterable[str]) -> tuple[str, str]:
    """``" (did you mean 'T_q'?)"`` with the nearest known word, in English and in Chinese; nothing
    if none is near."""
    near = nearest(word, known)
    return (f" (did you mean {near!r}?)", f"（是否指 {near!r}？）") if near else ("", "")


def half_width(text: str) -> str:
    """``text`` with full-width letters, digits and signs, as Chinese keyboards type them, in ASCII.

    Unlike NFKC it leaves ``D²`` alone, which NFKC would turn into ``D2``.
    """
    return text.translate(_HALF_WIDTH)
