"""What several commands read from their arguments."""

from collections import Counter
from pathlib import Path

from app.errors import SubmissionTooLarge, UnreadableSubmission


def read_paths(paths: list[Path], limit: int) -> dict[str, bytes]:
    """The files' bytes by name. Raises UnreadableSubmission and SubmissionTooLarge."""
    names = Counter(path.name for path in paths)
    for path in paths:
        if path.is_dir():
            raise UnreadableSubmission(f"{path} is a folder; expected files")
        if not path.exists():
            raise UnreadableSubmission(f"no such file: {path}")
        if not path.is_file():
            raise UnreadableSubmission(f"{path} is a device or a pipe; expected files")
        if names[path.name] > 1:
            raise UnreadableSubmission(f"two files are called {path.name!r}")
    total = sum(path.stat().st_size for path in paths)
    if total > limit:
        raise SubmissionTooLarge(f"the submission has {total} bytes; at most {limit} are taken")
    try:
        return {path.name: path.read_bytes() for path in paths}
    except OSError as error:
        raise UnreadableSubmission(f"{error.filename} cannot be read: {error.strerror}") from error
