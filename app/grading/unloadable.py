"""Why a file could not be loaded, where Python's own words would be a riddle to its author."""

import re

from app.domain.quotation import half_width
from app.domain.run import Json
from app.sandbox.job import Failure

KEYS = {
    "SystemExit": "exits",
    "NotText": "not_text",
    "TabError": "tabs",
    "ModuleNotFoundError": "not_installed",
}
"""The sentence for each type of error that has its own."""

_CHARACTER = re.compile(r"invalid (?:non-printable )?character .{0,5}U\+(?P<code>[0-9A-F]{4,5})\)?")

_MEANT = {
    **dict.fromkeys("“”„«»＂", '"'),
    **dict.fromkeys("‘’‚`´＇", "'"),
    **dict.fromkeys("–—‐‑", "-"),
    **dict(zip("。、【】《》×·÷", ".,[]<>**/", strict=True)),
    "…": "...",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
}
"""What is typed by mistake or put in by a word processor, beside full-width signs."""


def told(failure: Failure) -> tuple[str, dict[str, Json]]:
    """The key of the sentence on a file that could not be loaded, and the facts it needs beside
    those of every failure."""
    found = _CHARACTER.fullmatch(failure.detail) if failure.error_type == "SyntaxError" else None
    if found is None:
        return KEYS.get(failure.error_type, "load_error"), {}
    character, code = chr(int(found["code"], 16)), f"U+{found['code']}"
    if not character.isprintable() or character.isspace():
        return "invisible_character", {"code": code}
    return "character", {"character": character, "code": code, "meant": _meant(character)}


def _meant(character: str) -> str:
    """The sign of Python that was probably meant; empty if none is known."""
    narrow = half_width(character)
    return _MEANT.get(character, narrow if narrow != character else "")
