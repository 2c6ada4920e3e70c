"""JSON bodies of small calls, read after the asker is known and by the rules of answers."""

from typing import TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

from app.api.upload import JSON, WrongMediaType, media_type
from app.domain.answers import parse_json_object

Body = TypeVar("Body", bound=BaseModel)


async def read_body(request: Request, model: type[Body]) -> Body:
    """The request's body as ``model``.

    Raises WrongMediaType, UnreadableSubmission for what is no JSON object of characters and
    numbers, and RequestValidationError for an object of other keys or values.
    """
    kind = media_type(request)
    if kind != JSON:
        raise WrongMediaType(kind, JSON)
    try:
        return model.model_validate(parse_json_object(await request.body()))
    except ValidationError as error:
        found = [{**each, "loc": ("body", *each["loc"])} for each in error.errors()]
        raise RequestValidationError(found) from None


def described(model: type[BaseModel]) -> dict[str, object]:
    """The body for OpenAPI."""
    return {"required": True, "content": {JSON: {"schema": model.model_json_schema()}}}
