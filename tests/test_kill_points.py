"""A worker process that is killed at the worst places: after the claim, inside the publishing
transaction, and before the job is done. Each time the next one ends what was begun."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import select

from app import submissions
from app.db import snapshot, transaction
from app.domain.submission import Submission as Work
from app.models import Job, Result, Run
from app.settings import Settings

SHEET = "s34-a1-masked"
PLACES = ("after-begin", "inside-publish", "before-done")

# A worker without a sandbox, which answers do not need and which takes seconds to start.
WORKER = """
import sys, threading
from pathlib import Path
from sqlalchemy import select
from app import db, jobs
from app.db import snapshot
from app.models import Job
from app.settings import Settings
from app.worker import Grader, take_over

settings = Settings(data=Path(sys.argv[1]))
sessions, stop = db.sessions(settings), threading.Event()
grader = Grader(sessions, None, settings.jobs.max_tries)

def grade(run_id, ticket):
    grader.grade(run_id, ticket)

def end_when_idle():
    while not stop.wait(0.02):
        with snapshot(sessions) as session:
            if session.scalar(select(Job.id).limit(1)) is None:
                stop.set()
    jobs.wake(sessions)

take_over(sessions)
threading.Thread(target=end_when_idle).start()
jobs.run_worker(sessions, {"grade": grade}, 2, stop, settings.jobs)
"""


def work_until_idle(data: Path, failpoint: str) -> list[int]:
    """Starts workers until one ends by itself; the exit codes."""
    codes = []
    while codes[-1:] != [0]:
        assert len(codes) < 9
        done = subprocess.run(
            [sys.executable, "-c", WORKER, str(data)],
            env={**os.environ, "ATTEST_FAILPOINT": failpoint},
            timeout=60,
        )
        codes.append(done.returncode)
    return codes


def accept(database, person) -> str:
    with transaction(database) as session:
        work = Work(answers={"unchanged_row": 1})
        return submissions.accept(session, person=person, problem_id=SHEET, work=work).id


def run_of(database, submission_id) -> tuple[Run, int]:
    """The run, and how many results it has."""
    with snapshot(database) as session:
        run = session.scalars(select(Run).where(Run.submission_id == submission_id)).one()
        return run, len(session.scalars(select(Result).where(Result.run_id == run.id)).all())


@pytest.fixture
def ended(database, settings: Settings):
    """Every run is final and no job is left."""
    yield
    with snapshot(database) as session:
        assert set(session.scalars(select(Run.status))) <= {"graded", "errored"}
        assert session.scalars(select(Job)).all() == []


@pytest.mark.usefixtures("ended")
def test_two_submissions_survive_three_kills_and_get_one_score_each(
    database, served, settings: Settings, tmp_path
):
    ids = [accept(database, person) for person in (served.student, served.classmate)]
    listed = ",".join(f"{place}={tmp_path / place}" for place in PLACES)
    codes = work_until_idle(settings.data, listed)
    assert codes == [-signal.SIGKILL] * 3 + [0]
    assert all((tmp_path / place).exists() for place in PLACES)
    for run, results in (run_of(database, each) for each in ids):
        assert (run.status, results) == ("graded", 3)
        assert 1 <= run.tries <= 3


@pytest.mark.usefixtures("ended")
def test_a_submission_that_ends_every_worker_is_errored_and_takes_no_other_with_it(
    database, served, settings: Settings, tmp_path
):
    poison = accept(database, served.student)
    run, _ = run_of(database, poison)
    always = ",".join(f"after-begin-{run.id}={tmp_path / str(n)}" for n in range(9))
    others = [accept(database, served.classmate), accept(database, served.ta)]
    codes = work_until_idle(settings.data, always)
    assert codes == [-signal.SIGKILL] * 3 + [0]
    run, results = run_of(database, poison)
    assert (run.status, run.tries, results) == ("errored", 4, 0)
    assert run.error == "grading was started 3 times and never ended"
    assert [run_of(database, each)[0].status for each in others] == ["graded", "graded"]
