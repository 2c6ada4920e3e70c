"""Whatever is killed, every acknowledged submission ends in exactly one score."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from app.demo.built_in import SUBMISSIONS, example

from .conftest import CODE, DEADLINE_S, SLOW, Service, new_service, wait_for

RIGHT, WRONG = map(example, SUBMISSIONS)


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    made = new_service(tmp_path_factory.mktemp("service"))
    yield made
    made.stop()


@pytest.fixture
def mortal(lasting: Service) -> Service:
    """A demo service that runs; a test may kill it, the next one starts it again."""
    if lasting.process is None or lasting.process.poll() is not None:
        lasting.start("--demo", "--slots", "2")
    wait_for(lasting.worker, "a warm worker")
    return lasting


def running_submission(mortal: Service, code: bytes = RIGHT) -> str:
    """The id of a slow submission that is being graded."""
    answer = mortal.post(SLOW + code)
    assert answer.status_code == 202
    submission_id: str = answer.json()["id"]
    wait_for(lambda: mortal.run(submission_id).status == "running", "the start of the run")
    return submission_id


def test_a_worker_killed_while_it_grades_is_replaced_and_the_run_starts_again(mortal: Service):
    before = mortal.worker()
    submission_id = running_submission(mortal)
    os.kill(before, signal.SIGKILL)
    run = mortal.graded_once(submission_id)
    assert (run.score, run.tries) == (10.0, 2)
    assert wait_for(mortal.worker, "the next worker") != before


def test_api_and_worker_killed_at_once_leave_the_run_to_the_next_start(mortal: Service):
    worker = mortal.worker()
    submission_id = running_submission(mortal, WRONG)
    os.kill(worker, signal.SIGKILL)
    mortal.kill()
    mortal.start("--demo")
    run = mortal.graded_once(submission_id)
    assert (run.score, run.tries) == (1.0, 2)


def test_sigterm_lets_the_running_submission_end_first(mortal: Service):
    submission_id = running_submission(mortal)
    assert mortal.end(signal.SIGTERM) == 0
    run = mortal.graded_once(submission_id)
    assert (run.score, run.tries) == (10.0, 1)
    assert not (mortal.data / "serve.json").exists()
    assert mortal.worker() is None


def test_an_api_that_dies_in_accepting_keeps_all_or_nothing(service: Service, tmp_path: Path):
    """Without an answer there is no row before the commit, and one row after it."""
    for place, rows in (("before-accept-commit", 0), ("after-enqueue", 1)):
        service.start("--demo", "--no-worker", failpoint=f"{place}={tmp_path / place}")
        with pytest.raises(httpx2.TransportError):
            service.post(RIGHT)
        assert service.process
        assert service.process.wait(30) == -signal.SIGKILL
        assert (tmp_path / place).exists()
        assert service.stored() == rows
    service.start("--demo")
    (submission_id,) = service.submissions()
    run = service.graded_once(submission_id)
    assert (run.score, run.tries) == (10.0, 1)


def test_what_is_posted_without_a_worker_is_graded_later(service: Service):
    service.start("--demo", "--no-worker")
    with service.client() as client:
        assert client.get("/healthz").status_code == 200
        unready = client.get("/readyz")
    assert unready.status_code == 503
    assert "no worker runs" in unready.text
    answer = service.post(RIGHT)
    assert (answer.status_code, answer.json()["status"]) == (202, "queued")
    assert service.end(signal.SIGINT) == 0
    service.start("--demo")
    assert service.graded_once(answer.json()["id"]).score == 10.0


def test_a_service_whose_data_is_deleted_takes_nothing_more_and_ends_with_a_sentence(
    service: Service,
):
    service.start("--demo")
    with service.client() as client:
        shutil.rmtree(service.data)
        try:
            answer = client.post(f"/api/v1/problems/{CODE}/submissions", files={"file": RIGHT})
            assert answer.status_code == 503
        except httpx2.TransportError:
            pass  # it had ended already
    assert service.process.wait(DEADLINE_S) == 2
    said = "".join(service.output)
    assert "attest.db was deleted or replaced while it was in use" in said
    assert "Traceback" not in said
