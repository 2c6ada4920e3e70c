"""``attest worker``: a grading worker of its own."""

from app import logs
from app.settings import Settings
from app.worker import run as work


def run(slots: int | None) -> int:
    """Grades until it is told to end. Returns 0."""
    logs.to_stderr()
    work(Settings(), slots=slots)
    return 0
