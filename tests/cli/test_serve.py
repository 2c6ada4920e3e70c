"""``attest serve`` where it cannot start: one sentence, exit code 2."""

import sqlite3
from pathlib import Path

import pytest

from .conftest import Attest


def test_without_isolation_the_service_ends_and_says_why(attest: Attest, tmp_path: Path):
    ended = attest("serve", "--port", 0, isolated=False, ATTEST_DATA=str(tmp_path))
    assert (ended.code, ended.out) == (2, "")
    assert "attest.worker: this host isolates at level none, expected full" in ended.err
    assert ended.err.endswith("attest: the worker cannot start; its reason stands above\n")
    assert not (tmp_path / "serve.json").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ATTEST_PORT", "99999"),
        ("ATTEST_PORT", "http"),
        ("ATTEST_UPLOAD_LIMIT", "0"),
        ("ATTEST_JOBS__SLOTS", "0"),
        ("ATTEST_JOBS__MAX_TRIES", "-1"),
        ("ATTEST_JOBS__POLL_INTERVAL", "nan"),
        ("ATTEST_RATES__POSTS", "0"),
        ("ATTEST_DATABASE_URL", "attest.db"),
    ],
)
def test_an_impossible_setting_is_named_with_its_value(
    attest: Attest, tmp_path: Path, name: str, value: str
):
    ended = attest("serve", **{"ATTEST_DATA": str(tmp_path / "data"), name: value})
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert name in ended.err
    assert value in ended.err


def test_a_data_folder_that_is_a_file_is_named(attest: Attest, tmp_path: Path):
    (tmp_path / "file").touch()
    for command in (("serve", "--port", 0), ("token", "ada@example.org"), ("worker",)):
        ended = attest(*command, ATTEST_DATA=str(tmp_path / "file" / "data"))
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
        assert f"{tmp_path / 'file' / 'data'} cannot be the folder" in ended.err


def test_in_a_folder_without_problems_the_shipped_ones_are_taken(attest: Attest, tmp_path: Path):
    (tmp_path / "answers.json").write_text("{}")
    ended = attest("grade", "s34-a1-masked", "answers.json", cwd=tmp_path)
    assert (ended.code, ended.out.splitlines()[0]) == (1, "s34-a1-masked 0/10 graded")


def test_a_folder_of_problems_that_is_none_is_named(attest: Attest, tmp_path: Path):
    nowhere = tmp_path / "nowhere"
    data = str(tmp_path / "data")
    ended = attest("serve", "--port", 0, ATTEST_DATA=data, ATTEST_PROBLEMS=str(nowhere))
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"attest: {nowhere} is no folder; ATTEST_PROBLEMS names one\n"


def test_a_database_of_another_kind_is_refused(attest: Attest, tmp_path: Path):
    data = str(tmp_path)
    ended = attest("serve", "--port", 0, ATTEST_DATA=data, ATTEST_DATABASE_URL="mysql://x/y")
    assert ended.code == 2
    assert ended.err == ("attest: ATTEST_DATABASE_URL names a mysql database; expected sqlite\n")


def test_a_command_in_another_folder_finds_no_database_and_makes_none(
    attest: Attest, tmp_path: Path
):
    for command in (("token", "ada@example.org", "--role", "admin"), ("worker",)):
        ended = attest(*command, cwd=tmp_path)
        assert ended.code == 2
        assert f"the database {tmp_path / 'var' / 'attest.db'} is not there" in ended.err
        assert not (tmp_path / "var" / "attest.db").exists()


def test_a_token_needs_a_database_that_is_up_to_date(attest: Attest, tmp_path: Path):
    sqlite3.connect(tmp_path / "attest.db").execute("CREATE TABLE t (c)").connection.close()
    ended = attest("token", "ada@example.org", "--role", "admin", ATTEST_DATA=str(tmp_path))
    assert ended.code == 2
    assert f"the database {tmp_path / 'attest.db'} is at revision none" in ended.err
    assert "`attest db upgrade`" in ended.err
