"""Runs: whatever a queue loses, repeats or reorders, each ends in one result."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select, update

from app import runs, submissions
from app.db import Sessions, snapshot, transaction
from app.domain.outcome import Outcome
from app.domain.run import CheckResult, Remark, RunResult
from app.domain.submission import Submission as Work
from app.jobs import live_tickets
from app.models import Job, Result, Run
from app.models.base import now


@pytest.fixture
def run(database: Sessions, served) -> Run:
    return new_run(database, served.student)


def new_run(database, person) -> Run:
    with transaction(database) as session:
        accepted = submissions.accept(
            session,
            person=person,
            problem_id="s33-masked-attention",
            work=Work(files={"a.py": b"x"}),
        )
        return session.scalars(select(Run).where(Run.submission_id == accepted.id)).one()


def begin(database, run, ticket=None):
    with transaction(database) as session:
        return runs.begin(session, run.id, ticket or run.ticket)


def publish(database, run, fence, score=2.0) -> bool:
    checks = (CheckResult(id="fixed", outcome=Outcome.PASSED, points=score),)
    result = RunResult(
        status="graded", score=score, checks=checks, seed=run.seed, sandbox_level="full"
    )
    with transaction(database) as session:
        return runs.publish(session, run.id, fence, result)


def row(database, run) -> Run:
    with snapshot(database) as session:
        return session.get_one(Run, run.id)


def results(database, run) -> int:
    with snapshot(database) as session:
        found = select(func.count()).select_from(Result).where(Result.run_id == run.id)
        return session.scalar(found)


def test_beginning_hands_out_all_that_grading_needs(database, run, shipped):
    begun = begin(database, run)
    assert (begun.fence, begun.tries, begun.seed) == (1, 1, run.seed)
    assert begun.version.yaml == shipped["s33-masked-attention"].yaml
    assert begun.work == Work(files={"a.py": b"x"})
    assert row(database, run).status == "running"


def test_a_published_run_is_final(database, run):
    begun = begin(database, run)
    assert publish(database, run, begun.fence)
    assert begin(database, run) is None
    assert not publish(database, run, begun.fence, score=9.0)
    found = row(database, run)
    assert (found.status, found.score, results(database, run)) == ("graded", 2.0, 1)
    assert found.queued_at <= found.started_at <= found.finished_at


def test_a_result_comes_back_as_it_was_published(database, run):
    begun = begin(database, run)
    remarks = (
        Remark(kind="left_out", file="hw.ipynb", cell=1, line=2, text="%who"),
        Remark(kind="only_tagged", file="hw.ipynb"),
    )
    facts = {"status": "graded", "score": 0.0, "checks": (), "seed": run.seed}
    result = RunResult(**facts, sandbox_level="full", notes=("a",), remarks=remarks, total_s=0.5)
    with transaction(database) as session:
        assert runs.publish(session, run.id, begun.fence, result)
    with snapshot(database) as session:
        assert runs.result_of(session.get_one(Run, run.id)) == result


def test_a_late_worker_cannot_publish_over_a_newer_start(database, run):
    late, newer = begin(database, run), begin(database, run)
    assert not publish(database, run, late.fence, score=9.0)
    assert row(database, run).score is None
    assert publish(database, run, newer.fence)
    assert row(database, run).score == 2.0


def test_only_the_ticket_of_the_row_begins(database, run):
    assert begin(database, run, ticket="another") is None
    assert row(database, run).status == "queued"


def test_a_superseded_run_does_not_begin(database, run, served):
    new_run(database, served.student)
    assert begin(database, run) is None
    assert row(database, run).status == "superseded"


def test_a_run_that_never_ends_is_errored_after_three_tries(database, run):
    assert [begin(database, run).tries for _ in range(3)] == [1, 2, 3]
    assert begin(database, run) is None
    found = row(database, run)
    assert (found.status, found.error) == (
        "errored",
        "grading was started 3 times and never ended",
    )


def test_a_failed_try_is_queued_again_or_errored_by_its_own_fence_alone(database, run):
    first = begin(database, run)
    with transaction(database) as session:
        assert runs.fail(session, run.id, first.fence, "slot lost", final=False)
    assert row(database, run).status == "queued"
    second = begin(database, run)
    with transaction(database) as session:
        assert not runs.fail(session, run.id, first.fence, "late", final=True)
        assert runs.fail(session, run.id, second.fence, "no solution", final=True)
    found = row(database, run)
    assert (found.status, found.error) == ("errored", "no solution")


def test_recovery_puts_running_runs_back(database, run):
    begin(database, run)
    with transaction(database) as session:
        assert runs.recover(session) == 1
    assert row(database, run).status == "queued"


def test_a_run_whose_job_was_lost_gets_a_new_one_and_the_old_ticket_is_void(database, run):
    with transaction(database) as session:
        session.query(Job).delete()
    with transaction(database) as session:
        assert runs.reconcile(session, now() - timedelta(minutes=2)) == 0  # too young
        assert runs.reconcile(session, now()) == 1
        assert runs.reconcile(session, now()) == 0  # its new job is live
        assert live_tickets(session) == {session.get_one(Run, run.id).ticket}
    assert begin(database, run, run.ticket) is None
    assert begin(database, run, row(database, run).ticket) is not None


deliveries = st.lists(
    st.sampled_from(["begin", "begin", "publish first", "publish last", "lose", "crash"]),
    max_size=12,
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(happenings=deliveries)
def test_any_order_of_hints_ends_in_exactly_one_result(database, served, happenings):
    with transaction(database) as session:
        session.execute(update(Run).where(Run.status == "queued").values(status="cancelled"))
    run = new_run(database, served.student)
    fences, published = [], 0
    for happening in happenings:
        match happening:
            case "begin":
                with transaction(database) as session:
                    begun = runs.begin(session, run.id, row_ticket(session, run), max_tries=99)
                fences += [begun.fence] if begun else []
            case "publish first" | "publish last" if fences:
                fence = fences[0 if happening == "publish first" else -1]
                published += publish(database, run, fence, score=float(fence))
            case "lose":
                with transaction(database) as session:
                    session.query(Job).delete()
                    runs.reconcile(session, now())
            case "crash":
                with transaction(database) as session:
                    runs.recover(session)
    last = begin_last(database, run)
    published += publish(database, run, last) if last else 0
    assert published == 1
    assert row(database, run).status == "graded"
    assert results(database, run) == 1


def row_ticket(session, run) -> str:
    return session.get_one(Run, run.id).ticket


def begin_last(database, run) -> int | None:
    with transaction(database) as session:
        begun = runs.begin(session, run.id, row_ticket(session, run), max_tries=99)
    return begun.fence if begun else None
