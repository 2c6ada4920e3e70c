"""Overrides: a person's points stand in the report and in the audit log, with the reason."""

import pytest
from sqlalchemy import select

from app import audit, overrides, runs, submissions
from app.db import Sessions, snapshot, transaction
from app.domain.outcome import Outcome
from app.domain.run import CheckResult, RunResult
from app.domain.submission import Submission as Work
from app.errors import Forbidden, InvalidRequest, NotFound
from app.models import Run


@pytest.fixture
def graded(database: Sessions, served) -> str:
    """A submission whose check `fixed` got nothing and whose check `random` got 3."""
    with transaction(database) as session:
        accepted = submissions.accept(
            session,
            person=served.student,
            problem_id="s33-masked-attention",
            work=Work(files={"a.py": b""}),
        )
        run = session.scalars(select(Run)).one()
        begun = runs.begin(session, run.id, run.ticket)
        checks = (
            CheckResult(id="fixed", outcome=Outcome.WRONG, points=0.0),
            CheckResult(id="random", outcome=Outcome.PASSED, points=3.0),
        )
        result = RunResult(
            status="graded", score=3.0, checks=checks, seed=begun.seed, sandbox_level="full"
        )
        runs.publish(session, run.id, begun.fence, result)
    return accepted.id


def override(database, by, submission_id, check="fixed", points=1.5, reason="right idea"):
    with transaction(database) as session:
        overrides.set(session, by, submission_id, check, points, reason)


def test_the_report_shows_the_given_points_and_keeps_the_outcome(database, served, graded):
    override(database, served.ta, graded)
    with snapshot(database) as session:
        report = submissions.report(session, served.student, graded, "en")
    fixed, random = report.checks
    assert (fixed.points, fixed.outcome) == (1.5, "wrong")
    assert fixed.override
    assert (fixed.override.points, fixed.override.reason) == (1.5, "right idea")
    assert (random.points, random.override) == (3.0, None)
    assert report.score == 4.5


def test_the_last_override_of_a_check_counts_and_both_are_written_down(database, served, graded):
    override(database, served.ta, graded, points=1.5)
    override(database, served.instructor, graded, points=0.5, reason="less of it")
    with snapshot(database) as session:
        assert submissions.report(session, served.student, graded, "en").score == 3.5
        entries = audit.about(session, f"submission:{graded}")
    assert [(entry.by_id, entry.details) for entry in entries] == [
        (
            served.ta.id,
            {
                "check": "fixed",
                "machine": 0.0,
                "before": None,
                "after": 1.5,
                "reason": "right idea",
            },
        ),
        (
            served.instructor.id,
            {"check": "fixed", "machine": 0.0, "before": 1.5, "after": 0.5, "reason": "less of it"},
        ),
    ]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"check": "fixd"}, "no check `fixd`; expected one of fixed, random"),
        ({"points": 2.5}, "2.5 points; `fixed` gives 0 to 2"),
        ({"points": -0.5}, "-0.5 points; `fixed` gives 0 to 2"),
        ({"points": float("nan")}, "nan points; `fixed` gives 0 to 2"),
        ({"reason": " "}, "needs a reason"),
        ({"reason": "x" * 2001}, "needs a reason of at most 2000 characters"),
    ],
)
def test_an_impossible_override_is_refused(database, served, graded, change, sentence):
    with pytest.raises(InvalidRequest, match=sentence):
        override(database, served.ta, graded, **change)
    with snapshot(database) as session:
        assert submissions.report(session, served.student, graded, "en").score == 3.0
        assert audit.about(session, f"submission:{graded}") == []


def test_only_staff_of_the_course_may_override(database, served, graded):
    with pytest.raises(Forbidden):
        override(database, served.student, graded)
    for stranger in (served.classmate, served.outsider):
        with pytest.raises(NotFound):
            override(database, stranger, graded)
    with pytest.raises(NotFound):
        override(database, served.ta, "no such submission")


def test_a_text_is_graded_once_a_person_has_decided_every_line(database, served, with_text):
    with transaction(database) as session:
        work = Work(text="Each query needs a distribution.")
        accepted = submissions.accept(
            session, person=served.student, problem_id=with_text, work=work
        )
        run = session.scalars(select(Run).where(Run.submission_id == accepted.id)).one()
        begun = runs.begin(session, run.id, run.ticket)
        lines = ("distribution", "leak", "decode")
        checks = tuple(CheckResult(id=n, outcome=Outcome.PENDING, points=0.0) for n in lines)
        result = RunResult(
            status="needs_review", score=0.0, checks=checks, seed=begun.seed, sandbox_level=""
        )
        runs.publish(session, run.id, begun.fence, result)
    seen = []
    for line, points in (("distribution", 3.0), ("leak", 0.0), ("decode", 2.0)):
        override(database, served.ta, accepted.id, check=line, points=points)
        with snapshot(database) as session:
            report = submissions.report(session, served.student, accepted.id, "en")
            (listed,) = submissions.page(session, served.ta, status=report.status).lines
        assert (listed.status, listed.score) == (report.status, report.score)
        seen.append((report.status, report.score, [check.outcome for check in report.checks]))
    assert seen == [
        ("needs_review", 3.0, ["passed", "pending", "pending"]),
        ("needs_review", 3.0, ["passed", "wrong", "pending"]),
        ("graded", 5.0, ["passed", "wrong", "passed"]),
    ]
