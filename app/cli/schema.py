"""``attest schema``: the JSON Schema of problem files."""

import json

from app.catalogue.schema import problem_schema


def run() -> int:
    """Prints the schema."""
    print(json.dumps(problem_schema(), indent=2, ensure_ascii=False))
    return 0
