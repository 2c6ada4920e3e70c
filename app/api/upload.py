"""From a request's body to a student's work. Nothing is read before the asker is known."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException

from app.domain.answers import parse_json_object
from app.domain.problem import Problem
from app.domain.submission import Submission
from app.errors import AttestError, SubmissionTooLarge, UnreadableSubmission
from app.uploads.read import read_answers, read_files

FILES, JSON = "multipart/form-data", "application/json"
FIELD = "file"
OVERHEAD = 64 * 1024
"""Bytes that a body may have beside the files: boundaries, names, headers."""
JSON_KEYS = frozenset({"answers", "text"})


class WrongMediaType(AttestError):
    """A body of a kind that this call does not take."""

    status = 415

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"the body is {found or 'of no stated type'}; expected {expected}")


@dataclass(frozen=True)
class Upload:
    """What one request brought: files by name, or a JSON object with answers and text."""

    files: Mapping[str, bytes]
    stated: Mapping[str, object]

    @property
    def sha256(self) -> str:
        """Of all that was sent, to tell a repeated request from another one."""
        parts = [repr(sorted(self.stated.items()))] if self.stated else []
        parts += [f"{name!r} {hashlib.sha256(d).hexdigest()}" for name, d in self.files.items()]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def work(self, problem: Problem, limit: int) -> Submission:
        """The work as ``problem`` takes it, of ``limit`` bytes at most.

        Raises UnreadableSubmission and SubmissionTooLarge.
        """
        if self.files:
            return read_files(problem, self.files, limit)
        answers = self.stated.get("answers", {})
        if not isinstance(answers, Mapping):
            raise UnreadableSubmission("answers is no object; expected the fields by name")
        return read_answers(problem, answers, self.stated.get("text"))


async def read_upload(request: Request) -> Upload:
    """Reads the body: multipart with fields ``file``, or JSON.

    Raises WrongMediaType, SubmissionTooLarge for more files than the parser takes, and
    UnreadableSubmission for a broken body.
    """
    kind = media_type(request)
    if kind == JSON:
        return Upload({}, _stated(await request.body()))
    if kind != FILES:
        raise WrongMediaType(kind, f"{FILES} or {JSON}")
    return Upload(await _files(request), {})


def media_type(request: Request) -> str:
    """The body's media type, without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _stated(body: bytes) -> dict[str, object]:
    stated = parse_json_object(body)
    unknown = sorted(stated.keys() - JSON_KEYS)
    if unknown:
        raise UnreadableSubmission(f"unknown key {unknown[0]!r}; expected answers or text")
    if not stated:
        raise UnreadableSubmission("the object is empty; expected answers or text")
    return stated


async def _files(request: Request) -> dict[str, bytes]:
    try:
        async with request.form() as form:
            return await _named(form)
    except HTTPException as error:
        if error.status_code != 400:
            raise
        if error.detail.startswith("Too many"):
            raise SubmissionTooLarge("too many files were sent") from error
        raise UnreadableSubmission(f"the multipart body is broken: {error.detail}") from error


async def _named(form: FormData) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for field, value in form.multi_items():
        if field != FIELD:
            raise UnreadableSubmission(f"unknown field {field!r}; expected files in {FIELD!r}")
        if not isinstance(value, UploadFile):
            raise UnreadableSubmission(
                f"the field {FIELD!r} holds a text; expected a file with its name, such as "
                f"curl -F {FIELD}=@attention.py"
            )
        name = value.filename or ""
        if name in files:
            raise UnreadableSubmission(f"two files are called {name!r}")
        files[name] = await value.read()
    if not files:
        raise UnreadableSubmission(f"no file was sent; expected one or more in the field {FIELD!r}")
    return files
