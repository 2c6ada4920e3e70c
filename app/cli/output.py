"""What the commands print."""

import json
from http import HTTPStatus


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
