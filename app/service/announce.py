"""What the service tells when it is ready: ``serve.json``, the demo's keys, and the READY line."""

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path

from app.demo.built_in import PROBLEM, SUBMISSIONS
from app.demo.course import Keys
from app.people import Role

FILE = "serve.json"


def links(url: str, keys: Keys) -> dict[Role, str]:
    """The sign-in links by role."""
    return {role: f"{url}/sign-in/{code}" for role, code in keys.codes.items()}


def write_file(data: Path, url: str, level: str | None, keys: Keys | None) -> None:
    """Writes ``serve.json`` for this user alone; a reader sees all of it or none."""
    told: dict[str, object] = {"url": url, "pid": os.getpid(), "sandbox_level": level}
    if keys:
        told |= {"tokens": keys.tokens, "links": links(url, keys)}
    draft = data / f"{FILE}.new"
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(told, file)
    draft.replace(data / FILE)


def remove_file(data: Path) -> None:
    """Whoever finds the file may trust that the service runs."""
    (data / FILE).unlink(missing_ok=True)


def demo_lines(url: str, keys: Keys) -> Iterator[str]:
    """How to enter the demo, line by line."""
    yield f"Pages:     {url}/"
    yield f"API:       {url}/api/v1, described at {url}/docs"
    yield "One-time sign-in links (two days; new at each start):"
    yield from _table(links(url, keys))
    yield "Tokens:"
    yield from _table(keys.tokens)


def curl_lines(url: str, keys: Keys) -> Iterator[str]:
    """A command that submits the wrong one of the built-in submissions when pasted."""
    file = shlex.quote(f"file=@{files('app.demo') / SUBMISSIONS[1]}")
    yield "Try it:"
    yield (
        f"  curl -H 'Accept: text/plain' -H 'Authorization: Bearer {keys.tokens['student']}' "
        f"-F {file} '{url}/api/v1/problems/{PROBLEM}/submissions?wait=20'"
    )


def _table(rows: Mapping[Role, str]) -> Iterator[str]:
    for role, value in rows.items():
        yield f"  {role:<10} {value}"
