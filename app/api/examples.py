"""Examples of bodies, for OpenAPI."""

from typing import Any

from app.api.answers import AcceptedSubmission
from app.domain.report import Report

_ACCEPTED = {
    "id": "01926f3c-8a5e-7b31-9c0d-2f6a1e4b8c57",
    "problem": "s33-masked-attention",
    "status": "queued",
    "attempt": 1,
    "sha256": "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
    "received_at": "2025-03-03T08:00:00Z",
}

_REPORT = {
    "id": _ACCEPTED["id"],
    "problem": "s33-masked-attention",
    "problem_version": "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
    "seed": None,
    "status": "graded",
    "score": 7.0,
    "max_score": 10.0,
    "checks": [
        {
            "id": "random",
            "outcome": "wrong",
            "points": 0.0,
            "max_points": 3.0,
            "message": "",
            "misconception": "mask_after_softmax",
            "hidden": True,
        }
    ],
    "misconceptions": [
        {
            "id": "mask_after_softmax",
            "checks": ["random"],
            "feedback": "The mask was applied after softmax.",
        }
    ],
    "warnings": [],
    "remarks": [
        {
            "kind": "left_out",
            "file": "attention.ipynb",
            "cell": 1,
            "line": 1,
            "text": "%matplotlib inline",
            "message": "attention.ipynb, cell 1, line 1: %matplotlib inline is a command of "
            "Jupyter and was left out",
        }
    ],
    "timing": {"queued_s": 0.004, "sandbox_s": 0.031, "total_s": 0.052},
    "limits": {"wall_s": 10, "memory_mb": 512},
    "stdout": "",
    "sandbox_level": "full",
}

ACCEPTED: dict[str, Any] = {
    "description": "Stored; it will be graded. `Location` is where the report will be.",
    "model": AcceptedSubmission,
    "content": {"application/json": {"example": _ACCEPTED}},
}

REPORT: dict[str, Any] = {
    "description": "The report.",
    "model": Report,
    "content": {
        "application/json": {"example": _REPORT},
        "text/plain": {"example": "s33-masked-attention 7/10 graded\n"},
    },
}

UPLOAD_BODIES: dict[str, Any] = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["file"],
                "properties": {
                    "file": {
                        "type": "array",
                        "items": {"type": "string", "format": "binary"},
                        "description": "Code: .py files, notebooks, or a .zip with folders and "
                        "data files. Answers: one .json file. A text: one .txt, .md or .json file.",
                    }
                },
            }
        },
        "application/json": {
            "schema": {
                "type": "object",
                "properties": {
                    "answers": {"type": "object", "additionalProperties": True},
                    "text": {"type": "string"},
                },
            },
            "example": {"answers": {"unchanged_row": 2}},
        },
    },
}
