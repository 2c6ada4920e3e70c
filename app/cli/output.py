"""What the commands print."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

UNGRADED = frozenset({"errored", "superseded", "cancelled"})


def problem_object(detail: str, status: int) -> str:
    """An error as the same object that HTTP gives (RFC 9457)."""
    return json.dumps(
        {
            "type": "about:blank",
            "title": HTTPStatus(status).phrase,
            "status": status,
            "detail": detail,
            "errors": [],
        },
        ensure_ascii=False,
    )


def exit_code(report: Mapping[str, Any]) -> int:
    """0 for full marks, 2 for what we did not grade, else 1; from a report as JSON."""
    if report["status"] in UNGRADED:
        return 2
    full = report["status"] == "graded" and report["score"] == report["max_score"]
    return 0 if full else 1
