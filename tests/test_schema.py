"""Migrations: up, down and up again give the tables of the models."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import inspect, select, text

from app import db, schema
from app.db import Sessions, snapshot, transaction
from app.errors import DatabaseUnfit
from app.models import Base, Run
from app.settings import Settings


def tables(database: Sessions) -> set[str]:
    return set(inspect(database.kw["bind"]).get_table_names()) - {"alembic_version"}


def test_upgrading_makes_the_tables_of_the_models_and_nothing_else(database: Sessions) -> None:
    assert tables(database) == set(Base.metadata.tables)
    assert schema.differences(database) == []


def test_up_down_and_up_again_ends_where_it_began(database: Sessions) -> None:
    schema.migrate(database, "base")
    assert tables(database) == set()
    schema.upgrade(database)
    assert schema.current(database) == schema.head()
    assert schema.differences(database) == []


def test_runs_that_were_there_before_remarks_have_none(
    database: Sessions, settings: Settings
) -> None:
    schema.migrate(database, "base")
    schema.migrate(database, "0001")
    values = "'r', 's', 1, 'v', 7, 'graded', 't', 1, 1, '2025-03-03', '', '', '[]', 0, 0"
    names = "id submission_id number version_id seed status ticket fence tries queued_at "
    names += "printed printed_hidden notes sandbox_s total_s"
    with closing(sqlite3.connect(settings.data / "attest.db")) as raw:  # asks for no other table
        raw.execute(f"INSERT INTO run ({', '.join(names.split())}) VALUES ({values})")
        raw.commit()
    schema.upgrade(database)
    with snapshot(database) as session:
        assert session.scalars(select(Run.remarks)).one() == []


def test_a_table_that_no_model_knows_is_a_difference(database: Sessions) -> None:
    with transaction(database) as session:
        session.execute(text("CREATE TABLE stray (id INTEGER)"))
    assert "stray" in str(schema.differences(database))


def test_upgrading_twice_changes_nothing(database: Sessions) -> None:
    schema.upgrade(database)
    assert schema.current(database) == schema.head()


def test_a_database_of_a_newer_program_is_refused_in_one_sentence(database: Sessions) -> None:
    with transaction(database) as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(DatabaseUnfit, match="at revision 9999, which this program does not know"):
        schema.upgrade(database)
    with pytest.raises(DatabaseUnfit, match=f"at revision 9999, expected {schema.head()}"):
        schema.require_current(database)


def test_an_empty_database_is_at_no_revision(tmp_path: Path) -> None:
    sessions = db.sessions(Settings(data=tmp_path))
    assert schema.current(sessions) is None
    with pytest.raises(DatabaseUnfit, match="at revision none"):
        schema.require_current(sessions)
    sessions.kw["bind"].dispose()
