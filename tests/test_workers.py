"""Readiness: a warm worker that was heard of lately."""

from datetime import timedelta

import pytest
import time_machine

from app import jobs, workers
from app.db import snapshot, transaction
from app.models.base import now

STALLED_S = 10


def readiness(database) -> workers.Readiness:
    with snapshot(database) as session:
        return workers.readiness(session, STALLED_S)


@pytest.fixture
def worker(database) -> str:
    with transaction(database) as session:
        return workers.register(session, "host", 7)


def test_nobody_grades_without_a_worker(database):
    found = readiness(database)
    assert (found.ready, found.reasons) == (False, ["no worker runs"])


def test_a_worker_grades_once_it_is_warm(database, worker):
    assert readiness(database).reasons == ["the worker is starting"]
    with transaction(database) as session:
        workers.warm(session, worker, "landlock")
    found = readiness(database)
    assert (found.ready, found.sandbox_level, found.workers) == (True, "landlock", 1)


def test_a_worker_that_was_not_heard_of_for_long_does_not_count(database, worker):
    with transaction(database) as session:
        workers.warm(session, worker, "full")
    with time_machine.travel(now() + timedelta(seconds=STALLED_S + 1)):
        assert readiness(database).reasons == ["no worker runs"]
        with transaction(database) as session:
            workers.beat(session, worker)
        assert readiness(database).ready


def test_a_worker_whose_process_ended_does_not_count(database, worker):
    with transaction(database) as session:
        workers.warm(session, worker, "full")
        workers.remove(session, "another host", 7)
    assert readiness(database).ready
    with transaction(database) as session:
        workers.remove(session, "host", 7)
    assert readiness(database).reasons == ["no worker runs"]


def test_the_age_of_the_oldest_waiting_job_is_told(database):
    assert readiness(database).oldest_waiting_s == 0
    with transaction(database) as session:
        jobs.enqueue(session, "grade", {"ticket": "t"})
    with time_machine.travel(now() + timedelta(seconds=7)):
        found = readiness(database)
    assert (found.waiting, 7 <= found.oldest_waiting_s < 60) == (1, True)
