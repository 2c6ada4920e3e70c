"""API and worker on one SQLite file: many threads in two processes, and nobody is locked out."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import func, select

from app import submissions
from app.db import snapshot, transaction
from app.domain.submission import Submission as Work
from app.models import Job, Result, Run
from app.settings import Settings

THREADS, EACH = 20, 6

WORKER = """
import sys, threading
from pathlib import Path
from app import db, jobs, runs
from app.db import transaction
from app.domain.outcome import Outcome
from app.domain.run import CheckResult, RunResult
from app.settings import Settings

settings = Settings(data=Path(sys.argv[1]))
sessions, stop = db.sessions(settings), threading.Event()

def grade(run_id, ticket):
    with transaction(sessions, durable=False) as session:
        begun = runs.begin(session, run_id, ticket)
    if begun:
        check = CheckResult(id="fixed", outcome=Outcome.PASSED, points=2.0)
        result = RunResult(
            status="graded", score=2.0, checks=(check,), seed=begun.seed, sandbox_level="full"
        )
        with transaction(sessions) as session:
            runs.publish(session, run_id, begun.fence, result)

def end_with_input():
    sys.stdin.read()
    stop.set()
    jobs.wake(sessions)

threading.Thread(target=end_with_input).start()
jobs.run_worker(sessions, {"grade": grade}, 4, stop, settings.jobs)
"""


def test_twenty_threads_and_a_worker_process_and_a_long_reader(
    database, served, settings: Settings
):
    with transaction(database) as session:
        session.merge(served.course).supersede = "never"

    def post(n: int) -> list[str]:
        ids = []
        for k in range(EACH):
            with transaction(database) as session:
                work = Work(files={"a.py": f"x = {n}, {k}".encode()})
                accepted = submissions.accept(
                    session, person=served.student, problem_id="s33-masked-attention", work=work
                )
            ids.append(accepted.id)
            with snapshot(database) as session:
                submissions.report(session, served.student, accepted.id, "en")
        return ids

    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(settings.data)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with snapshot(database) as reader, ThreadPoolExecutor(THREADS) as pool:
        assert reader.scalar(select(func.count()).select_from(Run)) == 0
        ids = [each for posted in pool.map(post, range(THREADS)) for each in posted]
        assert reader.scalar(select(func.count()).select_from(Run)) == 0
    wait_until_empty(database)
    _, complaints = worker.communicate(timeout=60)

    assert complaints == ""
    assert worker.returncode == 0
    with snapshot(database) as session:
        graded = session.scalars(select(Run.submission_id).where(Run.status == "graded")).all()
        assert sorted(graded) == sorted(ids)
        assert len(ids) == THREADS * EACH
        assert session.scalar(select(func.count()).select_from(Result)) == len(ids)


def wait_until_empty(database) -> None:
    deadline = time.monotonic() + 90
    while True:
        with snapshot(database) as session:
            if not session.scalar(select(func.count()).select_from(Job)):
                return
        assert time.monotonic() < deadline, "jobs were left"
        time.sleep(0.02)
