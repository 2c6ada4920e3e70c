"""The JSON Schema of problem files, made from the same classes that read them."""

from typing import Any

from pydantic import TypeAdapter

from app.catalogue.problem_file import WRITTEN_AS
from app.domain.problem import Draw, Problem

Schema = dict[str, Any]


def problem_schema() -> Schema:
    """The schema that editors complete and check problem files by."""
    schema = TypeAdapter(Problem).json_schema()
    definitions = schema["$defs"]
    for name, written in WRITTEN_AS.items():
        accepted = definitions["Accepted"]["properties"]
        accepted[written] = accepted.pop(name)
    case = definitions["CaseSet"]
    case["properties"].pop("arguments")
    case["additionalProperties"] = {
        "description": "A parameter: numbers in nested lists, a generator's name, or a draw.",
        "anyOf": [
            {"type": ["number", "boolean", "array"]},
            {"type": "string"},
            {"$ref": "#/$defs/Draw"},
        ],
    }
    definitions["Draw"] = TypeAdapter(Draw).json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Attest problem",
        **schema,
    }
