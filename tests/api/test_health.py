"""What an operator's tools are told."""

from app import schema, workers
from app.db import Sessions, transaction
from app.settings import Settings
from tests.api.conftest import Send
from tests.conftest import Ask


def test_the_process_is_alive_whatever_is_missing(ask: Ask, database: Sessions) -> None:
    schema.migrate(database, "base")
    assert ask(None).get("/healthz").json() == {"status": "ok"}


def test_without_a_worker_the_service_is_not_ready_and_says_why(ask: Ask) -> None:
    answer = ask(None).get("/readyz")
    assert (answer.status_code, answer.json()["ready"]) == (503, False)
    assert answer.json()["detail"] == "no worker runs"


def test_a_warm_worker_makes_the_service_ready(ask: Ask, send: Send, database: Sessions) -> None:
    with transaction(database) as session:
        worker = workers.register(session, "host", 1)
    assert ask(None).get("/readyz").json()["detail"] == "the worker is starting"
    with transaction(database) as session:
        workers.warm(session, worker, "full")
    send(ask("student"))
    answer = ask(None).get("/readyz")
    told = answer.json()
    assert (answer.status_code, told["sandbox_level"], told["waiting"]) == (200, "full", 1)


def test_a_database_of_another_version_is_not_ready(
    ask: Ask, database: Sessions, settings: Settings
) -> None:
    nobody = ask(None)
    schema.migrate(database, "base")
    answer = nobody.get("/readyz")
    assert (answer.status_code, answer.json()["ready"]) == (503, False)
    assert "of another version" in answer.json()["detail"]
    assert str(settings.data) not in answer.text


def test_where_the_database_is_gone_nothing_is_told_of_our_files(
    ask: Ask, settings: Settings
) -> None:
    student = ask("student")
    (settings.data / "attest.db").unlink()
    for path in ("/readyz", "/api/v1/problems"):
        answer = student.get(path)
        assert (answer.status_code, str(settings.data) in answer.text) == (503, False)


def test_metrics_count_runs_and_time_requests_by_route(ask: Ask, send: Send) -> None:
    student = ask("student")
    send(student)
    student.get("/made/up/by/anybody")
    told = ask(None).get("/metrics").text
    assert 'attest_runs{status="queued"} 1.0' in told
    assert "attest_jobs_waiting 1.0" in told
    assert 'attest_request_seconds_count{route="submit",status="202"} 1.0' in told
    assert "anybody" not in told
