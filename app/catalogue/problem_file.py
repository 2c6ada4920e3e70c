"""One problem file: from bytes to a frozen problem, or to every finding with its place."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import get_args

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from app.catalogue.case_rules import KEYS
from app.catalogue.known import meant
from app.catalogue.rules import findings
from app.catalogue.source import Location, Source, read_bytes, read_source
from app.domain.answers import Field
from app.domain.checks import Check
from app.domain.problem import AnswerProblem, CodeProblem, Draw, Problem, TextProblem, with_changes
from app.errors import Place, ProblemFileError

PROBLEMS: dict[str, type] = {"code": CodeProblem, "answer": AnswerProblem, "text": TextProblem}
CHECKS: dict[str, type] = {get_args(c.__annotations__["kind"])[0]: c for c in get_args(Check)}
FIELDS: dict[str, type] = {get_args(f.__annotations__["type"])[0]: f for f in get_args(Field)}

WRITTEN_AS = {"excused": "except"}  # a key that Python cannot have as a name


@dataclass(frozen=True, kw_only=True)
class ProblemVersion:
    """A problem with the bytes that state it; the hash names this version for ever."""

    problem: Problem
    path: str
    assignment: str
    sha256: str
    yaml: bytes

    @property
    def version(self) -> str:
        return f"sha256:{self.sha256}"


@dataclass(frozen=True)
class Finding:
    """Something wrong at a location of the tree; ``key`` marks the key rather than its value."""

    location: Location
    message: str
    key: bool = False


def read_problem(path: Path, data: bytes | None = None) -> ProblemVersion:
    """Reads a problem file.

    Raises ProblemFileError with all findings, in file order: unknown keys (with the key that was
    probably meant), wrong types, and statements that contradict each other.
    """
    data = read_bytes(path) if data is None else data
    source = read_source(path, data)
    problem = with_changes(_problem(source))
    _refuse(source, [Finding(*found) for found in findings(problem)])
    _refuse(source, _misnamed(path, problem))
    return ProblemVersion(
        problem=problem,
        path=str(path),
        assignment=path.resolve().parent.name,
        sha256=hashlib.sha256(data).hexdigest(),
        yaml=data,
    )


def _misnamed(path: Path, problem: Problem) -> list[Finding]:
    if path.stem == problem.id:
        return []
    return [Finding(("id",), f"id is `{problem.id}` but the file is named `{path.name}`")]


def _problem(source: Source) -> Problem:
    tree = source.tree
    if not isinstance(tree, dict):
        raise ProblemFileError([source.place((), "expected a problem: a mapping of keys")])
    kind = tree.get("kind")
    if "kind" not in tree:
        message = f"the key `kind` is missing{meant('', PROBLEMS)}"
        raise ProblemFileError([source.place((), message)])
    if not isinstance(kind, str) or kind not in PROBLEMS:
        message = f"kind is {kind!r}{meant(kind, PROBLEMS)}"
        raise ProblemFileError([source.place(("kind",), message)])
    wrong: list[Finding] = []
    prepared = dict(_prepared(tree, wrong))
    problem = _validated(PROBLEMS[kind], prepared, (), wrong)
    _refuse(source, wrong)
    assert isinstance(problem, CodeProblem | AnswerProblem | TextProblem)
    return problem


def _prepared(tree: dict[object, object], wrong: list[Finding]) -> Iterator[tuple[object, object]]:
    """The tree with the parts validated whose class depends on one of their keys."""
    for key, value in tree.items():
        match key, value:
            case "checks", list():
                chosen = [
                    _chosen(CHECKS, "kind", part, ("checks", n), wrong)
                    for n, part in enumerate(value)
                ]
                yield key, chosen
            case "fields", dict():
                yield (
                    key,
                    {n: _chosen(FIELDS, "type", f, ("fields", n), wrong) for n, f in value.items()},
                )
            case "cases", dict():
                nested = _dictionaries(tree)
                yield (
                    key,
                    {n: _case(part, ("cases", n), nested, wrong) for n, part in value.items()},
                )
            case "accepted", list():
                yield key, [_renamed(p, ("accepted", n), wrong) for n, p in enumerate(value)]
            case _:
                yield key, value


def _chosen(
    classes: dict[str, type], tag: str, part: object, at: Location, wrong: list[Finding]
) -> object:
    name = part.get(tag) if isinstance(part, dict) else None
    if not isinstance(name, str) or name not in classes:
        wrong.append(Finding((*at, tag), f"{tag} is {name!r}{meant(name, sorted(classes))}"))
        return part
    return _validated(classes[name], part, at, wrong)


def _dictionaries(tree: dict[object, object]) -> set[object]:
    """The names of parameters that are dictionaries, in whatever entry."""
    entries = tree.get("entries")
    several = list(entries.values()) if isinstance(entries, dict) else []
    found: set[object] = set()
    for entry in (tree, *several):
        parameters = entry.get("parameters") if isinstance(entry, dict) else None
        if isinstance(parameters, dict):
            found |= {n for n, p in parameters.items() if isinstance(p, dict) and "members" in p}
    return found


def _case(part: object, at: Location, nested: set[object], wrong: list[Finding]) -> object:
    if not isinstance(part, dict):
        return part
    keys = {key: value for key, value in part.items() if key in KEYS}
    arguments = {
        key: _argument(value, (*at, key), key in nested, wrong)
        for key, value in part.items()
        if key not in KEYS
    }
    return {**keys, "arguments": arguments}


def _argument(value: object, at: Location, nested: bool, wrong: list[Finding]) -> object:
    """A case's value with the draws in it validated; in a dictionary each member is a value."""
    if nested and isinstance(value, list):
        return [_argument(v, (*at, n), isinstance(v, dict), wrong) for n, v in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if not nested or "draw" in value:
        return _validated(Draw, value, at, wrong)
    return {n: _argument(v, (*at, n), _is_nested(v), wrong) for n, v in value.items()}


def _is_nested(value: object) -> bool:
    return isinstance(value, list) or (isinstance(value, dict) and "draw" not in value)


def _renamed(part: object, at: Location, wrong: list[Finding]) -> object:
    if not isinstance(part, dict):
        return part
    back = {written: name for name, written in WRITTEN_AS.items()}
    for name, written in WRITTEN_AS.items():
        if name in part:
            message = f"unknown key `{name}`; did you mean `{written}`?"
            wrong.append(Finding((*at, name), message, key=True))
    return {back.get(key, key): value for key, value in part.items()}


def _validated(kind: type, part: object, at: Location, wrong: list[Finding]) -> object:
    try:
        return _reader(kind).validate_python(part)
    except ValidationError as error:
        # A check or a field that was refused already would be refused here once for each kind.
        refused = {finding.location[:2] for finding in wrong}
        details = [d for d in error.errors() if (*at, *d["loc"])[:2] not in refused]
        wrong.extend(_finding(kind, detail, at) for detail in details)
        return part


@cache
def _reader(kind: type) -> TypeAdapter[object]:
    return TypeAdapter(kind)  # made once: that takes longer than reading a whole file with it


def _finding(kind: type, detail: ErrorDetails, at: Location) -> Finding:
    steps = [step for step in detail["loc"] if not _is_type(step)]
    location = (*at, *(WRITTEN_AS.get(str(step), step) for step in steps))
    name = location[-1] if location else ""
    match detail["type"]:
        case "unexpected_keyword_argument" | "extra_forbidden":
            return Finding(location, _unknown_key(kind, str(name), detail["loc"]), key=True)
        case "missing":
            return Finding(location, f"the key `{name}` is missing")
        case "string_type" if isinstance(detail["input"], bool | int | float):
            told = f"{name} is {_shown(detail['input'])}; expected a text: put it in quotes"
            return Finding(location, told)
        case _:
            return Finding(location, f"{name} is {_shown(detail['input'])}: {detail['msg']}")


def _is_type(step: int | str) -> bool:
    """Whether pydantic names a member of a union here, not a key of the file."""
    return isinstance(step, str) and (step in {"int", "float", "bool", "str"} or "[" in step)


def _unknown_key(kind: type, name: str, loc: tuple[int | str, ...]) -> str:
    known = sorted(WRITTEN_AS.get(k, k) for k in _keys_at(kind, loc[:-1]))
    return f"unknown key `{name}`{meant(name, known)}"


def _keys_at(kind: type, loc: tuple[int | str, ...]) -> list[str]:
    """The keys of the class reached from ``kind`` by ``loc``, by walking its JSON Schema."""
    schema = _reader(kind).json_schema()
    node: Mapping[str, object] = schema
    for step in loc:
        node = _resolved(schema, node)
        inner = node.get("properties", {})
        assert isinstance(inner, Mapping)
        found = inner.get(step) or node.get("additionalProperties") or node.get("items")
        node = found if isinstance(found, Mapping) else {}
    properties = _resolved(schema, node).get("properties", {})
    assert isinstance(properties, Mapping)
    return list(properties)


def _resolved(schema: Mapping[str, object], node: Mapping[str, object]) -> Mapping[str, object]:
    for option in (node, *_options(node)):
        if "$ref" in option:
            name = str(option["$ref"]).rsplit("/", 1)[-1]
            definitions = schema["$defs"]
            assert isinstance(definitions, Mapping)
            found = definitions[name]
            assert isinstance(found, Mapping)
            return found
    return node


def _options(node: Mapping[str, object]) -> list[Mapping[str, object]]:
    options = node.get("anyOf", [])
    return options if isinstance(options, list) else []


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _refuse(source: Source, wrong: list[Finding]) -> None:
    places: list[Place] = [source.place(f.location, f.message, key=f.key) for f in wrong]
    if places:
        raise ProblemFileError(sorted(set(places), key=lambda p: (p.line, p.column, p.message)))
