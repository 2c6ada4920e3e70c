"""The folder of problems: what is in it is proposed, at the start and whenever it changes."""

import hashlib
import logging
import threading
from pathlib import Path

from sqlalchemy import select
from watchfiles import watch as changes

from app import problems
from app.catalogue.folder import problem_files
from app.catalogue.problem_file import ProblemVersion, read_problem
from app.catalogue.proofs import read_proofs
from app.db import Sessions, snapshot, transaction
from app.errors import DatabaseUnfit, Place, ProblemFileError
from app.models import ProblemFile

LOOK_EVERY_MS = 2000  # for file systems that tell nothing of their changes

log = logging.getLogger(__name__)


def watch(sessions: Sessions, folder: Path, stop: threading.Event) -> None:
    """Scans at every change below ``folder`` and every two seconds, until ``stop`` is set.

    Raises DatabaseUnfit where the database is gone; any other failure is logged and tried again.
    """
    for _ in changes(
        folder, stop_event=stop, rust_timeout=LOOK_EVERY_MS, yield_on_timeout=True, debounce=200
    ):
        try:
            scan(sessions, folder)
        except DatabaseUnfit:
            raise
        except Exception:
            log.exception("the folder %s could not be read; it is tried again", folder)


def scan(sessions: Sessions, folder: Path) -> None:
    """Proposes every file of ``folder`` that is new or changed since it was last looked at."""
    with snapshot(sessions) as session:
        known = {file.path: file.sha256 for file in session.scalars(select(ProblemFile))}
    proofs = read_proofs(folder)
    there = {str(path.relative_to(folder)): path for path in problem_files(folder)}
    for name, path in there.items():
        data = _bytes(path)
        if data is not None and known.get(name) != hashlib.sha256(data).hexdigest():
            _see(sessions, name, data, proofs)
    if gone := known.keys() - there.keys():
        with transaction(sessions, durable=False) as session:
            problems.forget_files(session, gone)


def _see(sessions: Sessions, name: str, data: bytes, proofs: dict[str, str]) -> None:
    sha256 = hashlib.sha256(data).hexdigest()
    seen = _read(name, data)
    with transaction(sessions) as session:
        proven = proofs.get(Path(name).stem) == sha256
        problems.see_file(session, name, sha256, seen, proven=proven)


def _read(name: str, data: bytes) -> ProblemVersion | list[Place]:
    try:
        return read_problem(Path(name), data)
    except ProblemFileError as error:
        return error.places


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError as error:  # it was just deleted, or may not be read: the next look tells
        log.warning("%s cannot be read: %s", path, error.strerror)
        return None
