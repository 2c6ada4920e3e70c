"""The JSON Schema of problem files, made from the same classes that read them."""

from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any

from pydantic import TypeAdapter

from app.catalogue.problem_file import CHECKS, FIELDS, PROBLEMS, WRITTEN_AS
from app.domain.problem import Draw, Problem

FILE = "problem.schema.json"
"""Its name in a folder of problems."""

LINE = "# yaml-language-server: $schema="
"""How the first line of a problem file names its schema to an editor; the path follows."""

Schema = dict[str, Any]


def problem_schema() -> Schema:
    """The schema that editors complete and check problem files by."""
    schema = TypeAdapter(Problem).json_schema()
    definitions = schema["$defs"]
    for kind in (*PROBLEMS.values(), *CHECKS.values(), *FIELDS.values()):
        _describe(definitions[kind.__name__], kind)
    for name, written in WRITTEN_AS.items():
        accepted = definitions["Accepted"]["properties"]
        accepted[written] = accepted.pop(name)
    case = definitions["CaseSet"]
    case["properties"].pop("arguments")
    definitions["Argument"] = _argument()
    case["additionalProperties"] = {"$ref": "#/$defs/Argument"}
    definitions["Draw"] = TypeAdapter(Draw).json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Attest problem",
        **schema,
    }


def _describe(definition: Schema, kind: type) -> None:
    """Adds what pydantic leaves out: descriptions of inherited keys, and of the kind itself."""
    for base in _bases(kind):
        for key, stated in TypeAdapter(base).json_schema()["properties"].items():
            if "description" in stated:
                definition["properties"][key].setdefault("description", stated["description"])
    tag = "type" if "type" in definition["properties"] else "kind"
    definition["properties"][tag]["description"] = definition["description"]


def _bases(kind: type) -> Iterator[type]:
    return (base for base in kind.__mro__[1:] if is_dataclass(base))


def _argument() -> Schema:
    return {
        "description": "A parameter: numbers in nested lists, a generator's name, a draw, or for "
        "a dictionary a mapping of such.",
        "anyOf": [
            {"type": ["number", "boolean", "array", "string"]},
            {"$ref": "#/$defs/Draw"},
            {"type": "object", "additionalProperties": {"$ref": "#/$defs/Argument"}},
        ],
    }
