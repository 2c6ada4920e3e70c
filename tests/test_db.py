"""The database: readers cannot write, writers take turns, and network file systems are refused."""

import shutil
import threading
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from app import db
from app.db import Sessions, file_system, snapshot, transaction
from app.errors import DatabaseUnfit
from app.models import Course
from app.settings import Settings


def a_course(slug: str) -> Course:
    return Course(slug=slug, title=slug)


def count(database: Sessions) -> int:
    with snapshot(database) as session:
        return session.scalar(select(func.count()).select_from(Course)) or 0


def test_what_a_transaction_wrote_is_there_for_the_next_one(database: Sessions) -> None:
    with transaction(database) as session:
        session.add(a_course("autumn"))
    assert count(database) == 1


def test_an_exception_undoes_the_whole_transaction(database: Sessions) -> None:
    def half_way() -> None:
        with transaction(database) as session:
            session.add(a_course("autumn"))
            session.flush()
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        half_way()
    assert count(database) == 0


def use(opened: AbstractContextManager[Session]) -> None:
    with opened as session:
        session.scalar(select(func.count()).select_from(Course))


@pytest.mark.parametrize("replaced", [False, True])
def test_a_database_that_was_deleted_is_not_written_to(
    database: Sessions, settings: Settings, migrated: Path, replaced: bool
) -> None:
    with transaction(database) as session:
        session.add(a_course("autumn"))
    (settings.data / "attest.db").unlink()
    if replaced:
        shutil.copy(migrated, settings.data)
    for opened in (transaction, snapshot):
        with pytest.raises(DatabaseUnfit, match="was deleted or replaced"):
            use(opened(database))
    assert (settings.data / "attest.db").exists() == replaced


def test_a_data_folder_that_cannot_be_made_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "data"):
        with pytest.raises(DatabaseUnfit, match=f"{folder} cannot be the folder"):
            db.sessions(Settings(data=folder))


def test_a_data_folder_that_cannot_be_written_to_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)  # root may write everywhere
    with pytest.raises(DatabaseUnfit, match=f"{tmp_path} cannot be written to"):
        db.sessions(Settings(data=tmp_path))


def test_a_snapshot_cannot_write(database: Sessions) -> None:
    with snapshot(database) as session:
        session.add(a_course("autumn"))
        with pytest.raises(OperationalError, match="readonly"):
            session.flush()
    assert count(database) == 0


def test_a_snapshot_does_not_see_what_is_written_after_it_began(database: Sessions) -> None:
    with snapshot(database) as session:
        before = session.scalar(select(func.count()).select_from(Course))
        with transaction(database) as writer:
            writer.add(a_course("autumn"))
        assert session.scalar(select(func.count()).select_from(Course)) == before == 0
    assert count(database) == 1


@pytest.mark.parametrize(("durable", "level"), [(True, 2), (False, 1)])
def test_a_durable_commit_waits_for_the_disk(database: Sessions, durable: bool, level: int) -> None:
    with transaction(database, durable=durable) as session:
        assert session.scalar(text("PRAGMA synchronous")) == level  # 2 is FULL, 1 is NORMAL


def test_rows_that_lead_nowhere_are_refused(database: Sessions) -> None:
    with transaction(database) as session:
        assert session.scalar(text("PRAGMA foreign_keys")) == 1
        assert session.scalar(text("PRAGMA journal_mode")) == "wal"


def test_a_second_writer_waits_for_the_first_instead_of_failing(database: Sessions) -> None:
    begun, order = threading.Event(), []

    def second() -> None:
        begun.wait(10)
        with transaction(database) as session:
            session.add(a_course("second"))
            order.append("second")

    thread = threading.Thread(target=second)
    thread.start()
    with transaction(database) as session:
        begun.set()
        session.add(a_course("first"))
        thread.join(0.2)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("mysql://somewhere/grades", "names a mysql database; expected sqlite"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
    ],
)
def test_a_database_that_we_do_not_speak_is_refused(url: str, sentence: str) -> None:
    with pytest.raises(DatabaseUnfit, match=sentence):
        db.sessions(Settings(database_url=url))


def test_the_url_moves_the_database_out_of_the_data_folder(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / "grades.db"
    sessions = db.sessions(Settings(data=tmp_path, database_url=f"sqlite:///{elsewhere}"))
    with transaction(sessions) as session:
        session.execute(text("CREATE TABLE here (id INTEGER)"))
    sessions.kw["bind"].dispose()
    assert elsewhere.exists()


MOUNTS = """\
22 1 0:21 / / rw - ext4 /dev/vda rw
23 22 0:22 / /srv/net rw,relatime shared:1 - nfs4 server:/export rw
24 22 0:23 / /srv/net\\040work rw - cifs //server/share rw
25 23 0:24 / /srv/net/local rw - tmpfs tmpfs rw
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/srv", "ext4"),
        ("/srv/net/attest", "nfs4"),
        ("/srv/network", "ext4"),
        ("/srv/net work/attest", "cifs"),
        ("/srv/net/local/attest", "tmpfs"),
    ],
)
def test_the_file_system_of_a_folder_is_that_of_the_nearest_mount(
    tmp_path: Path, folder: str, kind: str
) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(MOUNTS)
    assert file_system(Path(folder), table) == kind


def test_a_database_on_a_network_file_system_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = file_system(tmp_path)
    assert here
    monkeypatch.setattr(db, "NETWORK_FILE_SYSTEMS", frozenset({here}))
    with pytest.raises(DatabaseUnfit, match=f"network file system \\({here}\\)"):
        db.sessions(Settings(data=tmp_path))
