"""The language of an answer."""

from typing import Annotated

from fastapi import Depends, Header

from app.domain.words import LANGUAGES, Language


def preferred_language(header: str) -> Language:
    """The language that ``Accept-Language`` prefers; English where it asks for neither."""
    wishes = [_wish(part) for part in header.split(",")]
    for _, tag in sorted((w for w in wishes if w[0] > 0), key=lambda w: -w[0]):
        for language in LANGUAGES:
            if tag == language or tag.startswith(language + "-"):
                return language
    return LANGUAGES[0]


def _wish(part: str) -> tuple[float, str]:
    tag, _, quality = part.partition(";")
    value = quality.strip().removeprefix("q=") or "1"
    try:
        return float(value), tag.strip().lower()
    except ValueError:
        return 0.0, ""


async def _from_header(
    accept_language: Annotated[str, Header(include_in_schema=False)] = "",
) -> Language:
    return preferred_language(accept_language)


InLanguage = Annotated[Language, Depends(_from_header)]
"""The language that the asker prefers."""
