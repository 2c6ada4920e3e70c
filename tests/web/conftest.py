"""Browsers without a browser: clients with a session cookie, and submissions that are graded."""

from collections.abc import Callable

import pytest
from starlette.testclient import TestClient

from app import people, runs, submissions, workers
from app.db import Sessions, transaction
from app.domain.outcome import Outcome
from app.domain.run import CheckResult, Evidence, Finding, RunResult
from app.domain.submission import Submission as Work
from app.http.access import COOKIE
from app.models import Run
from tests.conftest import Ask, Members

MASKED, SHEET = "s33-masked-attention", "s34-a1-masked"

# What browsers send with a form of our own page.
OWN = {"accept": "text/html", "sec-fetch-site": "same-origin"}

Browse = Callable[..., TestClient]
Grade = Callable[..., str]


@pytest.fixture
def browse(ask: Ask, database: Sessions, served: Members) -> Browse:
    """A browser that a member, or nobody, is signed in with."""

    def browser(name: str | None, **headers: str) -> TestClient:
        client = ask(None)
        client.headers |= OWN | {key.replace("_", "-"): value for key, value in headers.items()}
        if name:
            with transaction(database) as session:
                signed_in = people.sign_in(session, getattr(served, name))
            client.cookies.set(COOKIE, signed_in.secret)
        return client

    return browser


@pytest.fixture
def warm(database: Sessions) -> None:
    """A worker that says that it is ready and fully isolated."""
    with transaction(database) as session:
        workers.warm(session, workers.register(session, "here", 1), "full")


def a_result(**changes: object) -> RunResult:
    """`fixed` is wrong in one cell and `random`, which is hidden, too; the rest passed."""
    seen = Evidence(
        case="assignment1",
        name="A",
        index=(0, 0),
        student=[[0.669762, 0.0], [0.804430, 0.195570]],
        expected=[[0.987001, 0.0], [0.804430, 0.195570]],
        difference=[[-0.317239, 0.0], [0.0, 0.0]],
        wrong=[[True, False], [False, False]],
    )
    facts = {"case": "assignment1", "name": "A", "index": [0, 0], "got": 0.669762}
    facts |= {"expected": 0.987001, "wrong": 1, "total": 4}
    wrong = Finding(key="value", facts=facts)
    hidden = Finding(key="value", facts=facts | {"case": "random[0]", "got": 0.424242})
    named = {"outcome": Outcome.WRONG, "points": 0.0, "misconception": "mask_after_softmax"}
    checks = (
        CheckResult(id="fixed", finding=wrong, evidence=seen, **named),
        CheckResult(id="random", finding=hidden, evidence=seen, **named),
        CheckResult(id="zero", outcome=Outcome.PASSED, points=1.0),
        CheckResult(id="leak", outcome=Outcome.PASSED, points=2.0),
        CheckResult(id="stress", outcome=Outcome.PASSED, points=1.0),
        CheckResult(id="empty", outcome=Outcome.PASSED, points=1.0),
    )
    facts_of_run = {"status": "graded", "score": 5.0, "checks": checks, "seed": 0}
    return RunResult(**{**facts_of_run, "sandbox_level": "full", **changes})


@pytest.fixture
def grade(database: Sessions, served: Members) -> Grade:
    """A submission of the student, graded with the given result; its id."""

    def graded(result: RunResult | None = None, who: str = "student", **files: bytes) -> str:
        named = {name.replace("_", "."): data for name, data in files.items()}
        work = Work(files=named or {"attention.py": b"import numpy as np\n"})
        with transaction(database) as session:
            person = getattr(served, who)
            accepted = submissions.accept(session, person=person, problem_id=MASKED, work=work)
            run = session.query(Run).filter_by(submission_id=accepted.id).one()
            begun = runs.begin(session, run.id, run.ticket)
            assert begun
            runs.publish(session, run.id, begun.fence, result or a_result())
        return accepted.id

    return graded
