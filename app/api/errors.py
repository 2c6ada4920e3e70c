"""The errors that a call can answer with, for its description in OpenAPI."""

from typing import Any

from app.http.errors import ErrorDetails

WHEN = {
    401: "No token, or one that is unknown, expired or revoked.",
    403: "The asker's role does not allow it; said before anything is looked up.",
    404: "Nothing of that id, or nothing that the asker may know of.",
    412: "It was changed since you read it; read it again.",
    413: "Larger than ATTEST_UPLOAD_LIMIT, or more than 50 files.",
    415: "A body of a kind that this call does not take.",
    422: "Something in the request cannot be understood; it costs no attempt.",
    428: "No `If-Match`; it takes the `ETag` of what you read.",
    429: "Over a rate limit; Retry-After says when to try again.",
}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The ``responses`` of a route: these errors, and those of every call with a token."""
    listed = sorted({401, 403, 422, 429, *statuses})
    return {
        status: {
            "description": WHEN[status],
            "content": {
                "application/problem+json": {
                    "schema": {"$ref": f"#/components/schemas/{ErrorDetails.__name__}"}
                }
            },
        }
        for status in listed
    }
