"""``attest schema``: the JSON Schema of problem files."""

import json

from app.catalogue.schema import problem_schema


def run() -> int:
    """Prints the schema."""
    print(schema_text(), end="")
    return 0


def schema_text() -> str:
    """The schema as it is printed, and kept beside problem files."""
    return json.dumps(problem_schema(), indent=2, ensure_ascii=False) + "\n"
