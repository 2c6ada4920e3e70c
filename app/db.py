"""The database: how to open it, how to read, how to write, and its migrations.

SQLite in WAL mode. A writer takes the write lock when it begins, so that no transaction fails
half way because another one wrote meanwhile; a reader cannot write at all.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.orm import Session, sessionmaker

from app.errors import DatabaseUnfit
from app.settings import Settings

BUSY_TIMEOUT_MS = 30_000
POOL_SIZE = 40  # as many as the API has threads
NETWORK_FILE_SYSTEMS = frozenset(
    {"afs", "beegfs", "ceph", "cifs", "fuse.glusterfs", "fuse.sshfs", "glusterfs", "lustre"}
    | {"ncpfs", "nfs", "nfs4", "smb3", "smbfs"}
)

Sessions = sessionmaker[Session]


def sessions(settings: Settings) -> Sessions:
    """Makes sessions on the settings' database; ``snapshot`` and ``transaction`` open them.

    Raises DatabaseUnfit for a kind of database that we do not speak, and for a SQLite file on a
    network file system, where locks and WAL do not work.
    """
    return sessionmaker(_engine(database_url(settings)), expire_on_commit=False)


def database_url(settings: Settings) -> URL:
    """The settings' database; by default a file in the data folder. Raises DatabaseUnfit."""
    if settings.database_url:
        try:
            return make_url(settings.database_url)
        except ArgumentError:
            raise DatabaseUnfit(
                f"ATTEST_DATABASE_URL is {settings.database_url!r}; expected sqlite:///PATH"
            ) from None
    return URL.create("sqlite", database=str(settings.data.absolute() / "attest.db"))


@contextmanager
def transaction(sessions: Sessions, *, durable: bool = True) -> Iterator[Session]:
    """A session that may write; it is committed at the end and rolled back on an exception.

    The commit is on the disk when this returns. Without ``durable`` a power failure (not the end
    of a process) may undo it: for what is done again anyway.
    """
    with sessions.begin() as session:
        options = {"writes": True, "durable": durable}
        session.connection(execution_options=options)
        yield session


@contextmanager
def snapshot(sessions: Sessions) -> Iterator[Session]:
    """A session that reads one state of the database and can write nothing."""
    with sessions() as session:
        yield session


# SQLite


def _engine(url: URL) -> Engine:
    if url.get_backend_name() != "sqlite":
        kind = url.get_backend_name()
        raise DatabaseUnfit(f"ATTEST_DATABASE_URL names a {kind} database; expected sqlite")
    if not url.database or url.database == ":memory:":
        raise DatabaseUnfit("ATTEST_DATABASE_URL names no file; expected sqlite:///PATH")
    path = Path(url.database)
    make_folder(path.parent)
    _refuse_network_file_system(path)
    engine = create_engine(
        url, pool_size=POOL_SIZE, connect_args={"timeout": BUSY_TIMEOUT_MS / 1000}
    )
    same_file = _SameFile(path)
    event.listen(engine, "do_connect", lambda *_: same_file.require())
    event.listen(engine, "connect", _connected)
    event.listen(engine, "connect", lambda *_: same_file.remember())
    event.listen(engine, "begin", lambda _: same_file.require())
    event.listen(engine, "begin", _begin)
    return engine


def make_folder(folder: Path) -> None:
    """Makes the folder, for this user alone, unless it is there. Raises DatabaseUnfit."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise DatabaseUnfit(
            f"{folder} cannot be the folder of what is kept: {error.strerror}; ATTEST_DATA names it"
        ) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise DatabaseUnfit(f"{folder} cannot be written to; ATTEST_DATA names another folder")


class _SameFile:
    """Notices that the database was deleted or replaced: what is written into a file without a
    name is lost, however successful the commit."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: tuple[int, int] | None = None

    def remember(self) -> None:
        self._known = self._known or self._found()

    def require(self) -> None:
        if self._known not in (None, self._found()):
            raise DatabaseUnfit(
                f"the database {self._path} was deleted or replaced while it was in use; "
                "put it back where it can be, and start again"
            )

    def _found(self) -> tuple[int, int] | None:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino


def _connected(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    writes = options.get("writes", False)
    synchronous = "FULL" if options.get("durable", True) else "NORMAL"
    cursor = connection.connection.driver_connection
    assert cursor is not None
    cursor.execute(f"PRAGMA synchronous = {synchronous}")
    cursor.execute(f"PRAGMA query_only = {'OFF' if writes else 'ON'}")
    cursor.execute("BEGIN IMMEDIATE" if writes else "BEGIN")


def _refuse_network_file_system(path: Path) -> None:
    kind = file_system(path.parent)
    if kind in NETWORK_FILE_SYSTEMS:
        raise DatabaseUnfit(
            f"{path} is on a network file system ({kind}), where SQLite loses data; "
            "choose a local folder for ATTEST_DATA"
        )


def file_system(folder: Path, table: Path = Path("/proc/self/mountinfo")) -> str:
    """The kind of file system that ``folder`` is on, such as "ext4"; "" where it is not known."""
    target = os.path.realpath(folder)
    best, kind = "", ""
    for line in table.read_text().splitlines() if table.exists() else []:
        before, _, after = line.partition(" - ")
        point = re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), before.split()[4])
        inside = target == point or target.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, after.split()[0]
    return kind
