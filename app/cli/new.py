"""``attest new``: a problem file to begin with, which is proven but for its TODO texts."""

import builtins
import json
import math
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import typer
from ruamel.yaml import YAML

from app.catalogue import schema
from app.catalogue.folder import problem_files
from app.catalogue.known import unknown
from app.catalogue.problem_file import PROBLEMS, read_problem
from app.catalogue.staff_code import is_name
from app.cli.schema import schema_text
from app.errors import AttestError, InvalidRequest
from app.settings import Settings

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,47}")
"""Ids that can be uploaded too, and tell files apart on every file system."""

SECTION = re.compile(r"\d{1,3}(\.\d{1,3}){0,3}")
PLACEHOLDER = re.compile(r"__([a-z_]+)__")


@dataclass(frozen=True)
class Question:
    """One thing to be told. ``read`` returns the answer or raises InvalidRequest; a question
    without ``default`` must be answered. ``only_for`` is the kind of problem that needs it."""

    flag: str
    words: str
    read: Callable[[str], str]
    default: str | None = None
    only_for: str = ""


def run(name: str, assignment: str | None, flags: Mapping[str, str | None]) -> int:
    """Writes the file and says what to do next. ``flags`` are answers by the names that
    ``questions`` uses; what is missing is asked for on a terminal. Returns 0.

    Raises AttestError for anything impossible; nothing is written then.
    """
    path = new_path(name, assignment)
    told = answers(questions(path.stem), flags)
    write(path, told)
    shown = os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
    print(f"wrote {shown}; it works, and its TODO texts are yours to write. Next:")
    print(f"  attest preview {shown}\n  attest check {shown}")
    return 0


def new_path(name: str, assignment: str | None) -> Path:
    """Where the file will be: ``name`` is its path, or its id within an assignment's folder.

    Raises InvalidRequest for a name that no problem can have, and for one that is taken.
    """
    if name.endswith(".yaml"):
        if assignment:
            raise InvalidRequest(f"{name} is a path; expected an id beside --assignment")
        path = Path(os.path.abspath(name))
    else:
        given = {"assignment": assignment}
        folder = answers({"assignment": _assignment(_identifier("id", name))}, given)["assignment"]
        path = Settings().problems_folder.absolute() / folder / f"{name}.yaml"
    _refuse_taken(path, _identifier("id", path.stem))
    return path


def _assignment(name: str) -> Question:
    words = "Assignment, a folder of problems"
    return Question(f"--assignment of {name}", words, lambda text: _identifier("assignment", text))


def _identifier(what: str, text: str) -> str:
    if not NAME.fullmatch(text):
        wanted = "up to 48 of a to z, 0 to 9 and '-', or ASSIGNMENT/ID.yaml as the path"
        raise InvalidRequest(f"{what} is {text[:60]!r}; expected {wanted}")
    return text


def _refuse_taken(path: Path, name: str) -> None:
    if path.exists():
        raise InvalidRequest(f"{path} exists already; it was left as it is")
    for other in problem_files(path.parent.parent):
        if other.stem == name:
            raise InvalidRequest(f"the id `{name}` is taken by {other}; choose another one")


def questions(name: str) -> dict[str, Question]:
    """What the problem of that id needs to be told, in the order of asking."""
    function = name.replace("-", "_")
    entry = function if _is_name(function) else "answer"
    return {
        "kind": Question("--kind", f"Kind: {', '.join(PROBLEMS)}", _kind),
        "section": Question("--section", "Section of the chapter, such as 3.3", _section),
        "title_en": Question("--title-en", "Title in English", _title, "TODO title"),
        "title_zh": Question("--title-zh", "Title in Chinese", _title, "TODO 标题"),
        "points": Question("--points", "Points", _points, "10"),
        "entry": Question("--entry", "The student's function", _entry, entry, only_for="code"),
    }


def answers(asked: Mapping[str, Question], given: Mapping[str, str | None]) -> dict[str, str]:
    """An answer to each question: given, asked for on a terminal, or the default.

    Raises InvalidRequest for an answer that cannot be taken, and without a terminal for what must
    be told and is not.
    """
    told = {name: asked[name].read(text) for name, text in given.items() if text is not None}
    missing = {name: question for name, question in asked.items() if name not in told}
    if not sys.stdin.isatty():
        needed = [question.flag for question in missing.values() if question.default is None]
        if needed:
            raise InvalidRequest(f"{' and '.join(needed)} must be given where no terminal can ask")
        return told | {name: question.default or "" for name, question in missing.items()}
    for name, question in missing.items():
        if not question.only_for or question.only_for == told["kind"]:
            told[name] = _ask(question)
    return told


def _ask(question: Question) -> str:
    def read(text: str) -> str:
        try:
            return question.read(text.strip())
        except InvalidRequest as refusal:
            raise typer.BadParameter(str(refusal)) from refusal  # it is asked again

    answer: str = typer.prompt(question.words, default=question.default, value_proc=read)
    return answer


def _kind(text: str) -> str:
    if message := unknown(text, PROBLEMS, "kind of problem"):
        raise InvalidRequest(message)
    return text


def _section(text: str) -> str:
    if not SECTION.fullmatch(text):
        raise InvalidRequest(f"section is {text[:60]!r}; expected a number such as 3.3")
    return text


def _title(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise InvalidRequest(f"title is {text[:60]!r}; expected one line of text")
    return text


def _points(text: str) -> str:
    try:
        points = float(text)
    except ValueError:
        points = math.nan
    if not 0 < points < 10_000:
        raise InvalidRequest(f"points is {text[:60]!r}; expected a number above 0, such as 10")
    return f"{points:.10g}"


def _entry(text: str) -> str:
    if not _is_name(text):
        raise InvalidRequest(f"entry is {text[:60]!r}; expected the name of a new function")
    return text


def _is_name(text: str) -> bool:
    """Whether the skeleton works with a function of that name: it uses others itself."""
    taken = text == "np" or hasattr(builtins, text)
    return is_name(text) and not taken and _plain(text) == text


def write(path: Path, told: Mapping[str, str]) -> None:
    """Writes the file, and the schema that it names where there is none.

    Raises AttestError where it cannot be written; an existing file is never touched.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        place = _schema(path)
        text = f"{schema.LINE}{os.path.relpath(place, path.parent)}\n{filled(path.stem, told)}"
        read_problem(path, text.encode())
        if not place.exists():
            place.write_text(schema_text(), encoding="utf-8")
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise AttestError(f"{error.filename} cannot be written: {error.strerror}") from error


def _schema(path: Path) -> Path:
    """The schema of the folder of problems; beside the file where no such folder is around it."""
    shared = path.parent.parent / schema.FILE
    known = shared.exists() or shared.parent.resolve() == Settings().problems_folder.resolve()
    return shared if known else path.parent / schema.FILE


def filled(name: str, told: Mapping[str, str]) -> str:
    """The skeleton of that kind with the answers in it."""
    skeleton = (files("app.cli") / "skeletons" / f"{told['kind']}.yaml").read_text(encoding="utf-8")
    parts = {
        "id": _plain(name),
        "title_en": _quoted(told["title_en"]),
        "title_zh": _quoted(told["title_zh"]),
        "section": _quoted(told["section"]),
        "points": told["points"],
        "half": f"{float(told['points']) / 2:.11g}",
        "entry": told.get("entry", ""),
    }
    return PLACEHOLDER.sub(lambda found: parts[found[1]], skeleton)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _plain(name: str) -> str:
    """A name as YAML takes it for a text: `null` and `123` only between quotes."""
    return name if YAML(typ="safe", pure=True).load(name) == name else _quoted(name)
