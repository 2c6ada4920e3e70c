"""Entity tags: what a change is meant for, so that nobody overwrites what they have not seen."""

from typing import Annotated

from fastapi import Header

from app.errors import Outdated, Unconditional

IfMatch = Annotated[
    str | None, Header(description="The `ETag` that came with what you change, or `*`.")
]


def tag(state: str) -> str:
    """The header ``ETag`` of a thing in that state."""
    return f'"{state}"'


def require_match(if_match: str | None, state: str) -> None:
    """Raises Unconditional without ``If-Match``, and Outdated unless it names ``state``."""
    if if_match is None:
        raise Unconditional("say what you change: If-Match takes the ETag of what you read")
    named = {each.strip() for each in if_match.split(",")}
    if named.isdisjoint({"*", tag(state)}):
        raise Outdated("this was changed since you read it; read it again")
