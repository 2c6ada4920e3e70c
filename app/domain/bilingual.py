"""Text that a problem file says in both languages."""

from dataclasses import dataclass
from typing import ClassVar

STRICT: dict[str, object] = {"extra": "forbid", "use_attribute_docstrings": True}


@dataclass(frozen=True, kw_only=True)
class Words:
    """One text in both languages."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    en: str
    """In English."""
    zh: str
    """In Simplified Chinese."""
