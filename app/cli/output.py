"""What the commands print."""

import json
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from app.errors import Place

UNGRADED = frozenset({"errored", "superseded", "cancelled"})


def problem_object(detail: str, status: int, places: Iterable[Place] = ()) -> str:
    """An error as the same object that HTTP gives (RFC 9457), with the places in a file."""
    return json.dumps(
        {
            "type": "about:blank",
            "title": HTTPStatus(status).phrase,
            "status": status,
            "detail": detail,
            "errors": [
                {
                    "where": place.path,
                    "line": place.line,
                    "column": place.column,
                    "message": place.message,
                }
                for place in places
            ],
        },
        ensure_ascii=False,
    )


def exit_code(report: Mapping[str, Any]) -> int:
    """0 for full marks, 2 for what we did not grade, else 1; from a report as JSON."""
    if report["status"] in UNGRADED:
        return 2
    full = report["status"] == "graded" and report["score"] == report["max_score"]
    return 0 if full else 1
