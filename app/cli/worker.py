"""``attest worker``: a grading worker of its own."""

import logging
import sys

from app.settings import Settings
from app.worker import run as work


def run(slots: int | None) -> int:
    """Grades until it is told to end. Returns 0."""
    logging.basicConfig(format="%(name)s: %(message)s", level=logging.INFO, stream=sys.stderr)
    work(Settings(), slots=slots)
    return 0
