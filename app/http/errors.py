"""Every error as RFC 9457 problem details, with the sentence that says what to do.

Pages show the same facts as HTML: ``add_error_handlers`` takes the function that draws them.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from app.domain.words import Language
from app.errors import AttestError, Place, ProblemFileError
from app.http.language import preferred_language

OURS = "something went wrong on our side"
"""All that is told of our own failures; the log has the rest."""

log = logging.getLogger(__name__)


class ErrorPlace(BaseModel):
    """Where something is wrong: in a file by line and column, or in a request by its key."""

    where: str
    line: int | None = None
    column: int | None = None
    message: str


class ErrorDetails(BaseModel):
    """An error: RFC 9457 problem details and the places that it is about."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[ErrorPlace] = []


ErrorPage = Callable[[Request, ErrorDetails], Response]


class ErrorResponse(JSONResponse):
    """``application/problem+json``."""

    media_type = "application/problem+json"

    def __init__(self, details: ErrorDetails, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(details.model_dump(), details.status, headers)


def error_details(status: int, detail: str, errors: Iterable[ErrorPlace] = ()) -> ErrorDetails:
    """The details of one error."""
    title = HTTPStatus(status).phrase
    return ErrorDetails(title=title, status=status, detail=detail, errors=list(errors))


def add_error_handlers(app: FastAPI, page: ErrorPage | None = None) -> None:
    """Answers every error of ``app``: with ``page`` to a browser outside /api, else as JSON."""

    answer = partial(error_answer, page)

    def ours(request: Request, error: Exception) -> Response:
        assert isinstance(error, AttestError)
        if error.status >= 500:
            log.error("%s failed: %s", _route(request), error)
            return answer(request, error_details(error.status, OURS))
        language = preferred_language(request.headers.get("accept-language", ""))
        return answer(request, _of_attest_error(error, language), getattr(error, "headers", None))

    def frameworks(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        details = error_details(error.status_code, _sentence(request, error))
        return answer(request, details, error.headers)

    def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return answer(request, of_validation(error.errors()))

    def unexpected(request: Request, error: Exception) -> Response:
        log.error("%s crashed", _route(request), exc_info=error)
        return answer(request, error_details(500, OURS))

    app.add_exception_handler(AttestError, ours)
    app.add_exception_handler(HTTPException, frameworks)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(Exception, unexpected)


def error_answer(
    page: ErrorPage | None,
    request: Request,
    details: ErrorDetails,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """An error as ``page`` draws it to a browser outside /api, else as JSON."""
    if page is None or not _asks_for_page(request):
        return ErrorResponse(details, headers)
    response = page(request, details)
    response.headers.update(headers or {})
    return response


def _route(request: Request) -> str:
    # The route, not the address: an address can hold a sign-in code.
    return f"{request.method} {getattr(request.scope.get('route'), 'path', 'of no route')}"


def of_validation(errors: Iterable[Mapping[str, Any]]) -> ErrorDetails:
    """Pydantic's findings without the input, which could be anything."""
    places = [
        ErrorPlace(where=".".join(map(str, error["loc"])), message=error["msg"]) for error in errors
    ]
    detail = "; ".join(f"{place.where}: {place.message}" for place in places[:3])
    return error_details(422, detail, places)


def place_of(place: Place) -> ErrorPlace:
    """A place in a problem file."""
    return ErrorPlace(where=place.path, line=place.line, column=place.column, message=place.message)


def _of_attest_error(error: AttestError, language: Language) -> ErrorDetails:
    places = map(place_of, error.places) if isinstance(error, ProblemFileError) else ()
    return error_details(error.status, error.told(language), places)


def _asks_for_page(request: Request) -> bool:
    is_api = request.url.path.startswith("/api/")
    return not is_api and "text/html" in request.headers.get("accept", "")


def _sentence(request: Request, error: HTTPException) -> str:
    path = request.url.path
    match error.status_code:
        case 404 if error.detail == "Not Found":
            return f"there is nothing at {path}"
        case 405:
            allowed = (error.headers or {}).get("Allow", "other methods")
            return f"{request.method} is not possible at {path}; expected {allowed}"
        case _:
            return str(error.detail)
