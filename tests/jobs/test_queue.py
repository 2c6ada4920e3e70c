"""The queue: what is enqueued is delivered in order, again after a crash, and never too early."""

import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from app import jobs
from app.db import Sessions, snapshot, transaction
from app.jobs import queue
from app.jobs.bell import Bell, ring
from app.models import Job
from app.models.base import now
from app.settings import JobSettings

DEADLINE_S = 30


def enqueue(database: Sessions, n: int, **more: object) -> None:
    with transaction(database) as session:
        jobs.enqueue(session, "count", {"n": n, "ticket": f"t{n}"}, **more)


def claim(database: Sessions) -> int | None:
    with transaction(database) as session:
        job = queue.claim(session)
        return job.payload["n"] if job else None


def finish(database: Sessions, n: int) -> None:
    with transaction(database) as session:
        job = next(j for j in session.scalars(select(Job)) if j.payload["n"] == n)
        queue.finish(session, job.id)


class Worker:
    """A real ``run_worker`` in a thread."""

    def __init__(self, database: Sessions, handler: jobs.Handler, slots: int = 1, **more: object):
        self.database, self.stop = database, threading.Event()
        settings = JobSettings(**{"poll_interval": 30.0, **more})
        arguments = (database, {"count": handler}, slots, self.stop, settings)
        self.thread = threading.Thread(target=jobs.run_worker, args=arguments)

    def __enter__(self) -> "Worker":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        jobs.wake(self.database)
        self.thread.join(DEADLINE_S)
        assert not self.thread.is_alive()


def wait_for(condition) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, "this did not happen in time"
        time.sleep(0.01)


def test_the_highest_priority_comes_first_and_then_the_oldest(database):
    for n, priority in ((1, 5), (2, 7), (3, 5), (4, 7)):
        enqueue(database, n, priority=priority)
    assert [claim(database) for _ in range(5)] == [2, 4, 1, 3, None]


def test_a_job_is_not_delivered_before_its_time(database):
    enqueue(database, 1, run_at=now() + timedelta(hours=1))
    assert claim(database) is None
    enqueue(database, 2, run_at=now() - timedelta(hours=1))
    assert claim(database) == 2


def test_a_job_that_was_taken_up_is_delivered_again_after_a_crash(database):
    enqueue(database, 1)
    assert claim(database) == 1
    assert claim(database) is None
    with transaction(database) as session:
        assert jobs.recover(session) == 1
    assert claim(database) == 1


def test_a_job_that_may_have_killed_its_worker_runs_alone(database):
    for n in (1, 2):
        enqueue(database, n)
    assert [claim(database), claim(database)] == [1, 2]
    with transaction(database) as session:
        jobs.recover(session)
    assert [claim(database), claim(database)] == [1, None]
    finish(database, 1)
    assert [claim(database), claim(database)] == [2, None]
    enqueue(database, 3)
    finish(database, 2)
    assert claim(database) == 3


def test_a_job_that_may_have_killed_its_worker_waits_until_the_others_are_done(database):
    enqueue(database, 1)
    claim(database)
    with transaction(database) as session:
        jobs.recover(session)
    enqueue(database, 2, priority=1)
    enqueue(database, 3)
    assert [claim(database), claim(database)] == [2, None]
    finish(database, 2)
    assert claim(database) == 1


def test_tickets_are_live_until_their_job_is_done(database):
    for n in (1, 2):
        enqueue(database, n)
    claim(database)
    with snapshot(database) as session:
        assert jobs.live_tickets(session) == {"t1", "t2"}
    finish(database, 1)
    with snapshot(database) as session:
        assert jobs.live_tickets(session) == {"t2"}


def test_the_numbers_tell_what_waits_and_since_when(database):
    enqueue(database, 1)
    enqueue(database, 2)
    enqueue(database, 3, run_at=now() + timedelta(hours=1))
    claim(database)
    with snapshot(database) as session:
        stats = jobs.stats(session)
        second = session.scalars(select(Job.enqueued_at).where(Job.id == 2)).one()
    assert (stats.waiting, stats.running, stats.oldest_waiting) == (1, 1, second)


def test_times_are_stored_and_come_back_in_utc(database):
    moment = now() + timedelta(hours=1)
    enqueue(database, 1, run_at=moment)
    with snapshot(database) as session:
        assert session.scalars(select(Job.run_at)).one() == moment


def test_a_worker_is_woken_by_a_commit_and_forgets_what_is_done(database):
    done: list[int] = []
    with Worker(database, lambda n, ticket: done.append(n)):
        for n in (1, 2, 3):
            enqueue(database, n)
            wait_for(lambda n=n: done[-1:] == [n])  # far sooner than the poll of 30 s
        wait_for(lambda: waiting(database) == 0)
    assert done == [1, 2, 3]


def waiting(database) -> int:
    with snapshot(database) as session:
        return len(list(session.scalars(select(Job.id))))


def test_a_job_whose_handler_fails_comes_again_and_is_dropped_in_the_end(database):
    calls: list[int] = []

    def fail(n: int, ticket: str) -> None:
        calls.append(n)
        raise RuntimeError("not today")

    with Worker(database, fail, backoff=(0.0,), max_tries=3):
        enqueue(database, 7)
        wait_for(lambda: waiting(database) == 0)
    assert calls == [7] * 4  # one more than tries, so that the row itself can say that it failed


def test_a_worker_runs_as_many_jobs_at_a_time_as_it_has_slots(database):
    meet = threading.Barrier(3)
    with Worker(database, lambda n, ticket: meet.wait(DEADLINE_S), slots=3):
        for n in (1, 2, 3):
            enqueue(database, n)
        wait_for(lambda: waiting(database) == 0)
    assert not meet.broken


def test_a_stopped_worker_ends_what_runs_and_begins_nothing_new(database):
    begun, release, done = threading.Event(), threading.Event(), []

    def work(n: int, ticket: str) -> None:
        begun.set()
        release.wait(DEADLINE_S)
        done.append(n)

    enqueue(database, 1)
    enqueue(database, 2)
    with Worker(database, work) as worker:
        assert begun.wait(DEADLINE_S)
        worker.stop.set()
        jobs.wake(database)
        release.set()
    assert done == [1]
    assert waiting(database) == 1


def test_the_drain_does_not_wait_longer_than_it_may(database):
    begun, release = threading.Event(), threading.Event()

    def work(n: int, ticket: str) -> None:
        begun.set()
        release.wait(DEADLINE_S)

    enqueue(database, 1)
    with Worker(database, work, drain_timeout=0.05):
        assert begun.wait(DEADLINE_S)
    release.set()
    wait_for(lambda: waiting(database) == 0)


def test_a_bell_works_in_a_folder_whose_path_is_longer_than_a_socket_address(tmp_path: Path):
    folder = tmp_path / ("d" * 120) / ("e" * 120)
    folder.mkdir(parents=True)
    bell = Bell(folder / "bell")
    assert (folder / "bell").stat().st_mode & 0o777 == 0o600
    began = time.monotonic()
    ring(folder / "bell")
    bell.wait(DEADLINE_S)
    assert time.monotonic() - began < DEADLINE_S
    bell.close()
    assert not (folder / "bell").exists()


@pytest.mark.parametrize("left_behind", [False, True])
def test_ringing_where_nobody_listens_is_harmless(tmp_path: Path, left_behind: bool):
    if left_behind:
        (tmp_path / "bell").touch()
    ring(tmp_path / "bell")
    assert (tmp_path / "bell").exists() == left_behind
