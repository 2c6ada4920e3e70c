"""The record of proven problems: ``proofs.json`` in their folder, the file's hash by problem.

What stands there with the hash that the file has now needs no new proof.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from app.errors import Place, ProblemFileError

FILE = "proofs.json"


def read_proofs(folder: Path) -> dict[str, str]:
    """The hash by problem; empty where there is no record. Raises ProblemFileError."""
    path = folder / FILE
    if not path.is_file():
        return {}
    try:
        record = json.loads(path.read_bytes())
    except ValueError as error:
        raise ProblemFileError([Place(str(path), 1, 1, f"not JSON: {error}")]) from error
    if not isinstance(record, dict):
        raise ProblemFileError([Place(str(path), 1, 1, "expected an object: problem to hash")])
    return {str(name): str(sha256) for name, sha256 in record.items()}


def write_proofs(folder: Path, proven: Mapping[str, str]) -> None:
    """Replaces the record."""
    text = json.dumps(dict(sorted(proven.items())), indent=2)
    (folder / FILE).write_text(text + "\n")
