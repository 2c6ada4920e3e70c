"""``attest serve`` where it cannot start: one sentence, exit code 2."""

from pathlib import Path

from .conftest import Attest


def test_without_isolation_the_service_ends_and_says_why(attest: Attest, tmp_path: Path):
    ended = attest("serve", "--port", 0, isolated=False, ATTEST_DATA=str(tmp_path))
    assert (ended.code, ended.out) == (2, "")
    assert "attest.worker: this host isolates at level none, expected full" in ended.err
    assert ended.err.endswith("attest: the worker cannot start; its reason stands above\n")
    assert not (tmp_path / "serve.json").exists()


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


def test_a_token_needs_a_database_that_is_up_to_date(attest: Attest, tmp_path: Path):
    ended = attest("token", "ada@example.org", "--role", "admin", ATTEST_DATA=str(tmp_path))
    assert ended.code == 2
    assert "the database is at revision none" in ended.err
    assert "`attest db upgrade`" in ended.err
