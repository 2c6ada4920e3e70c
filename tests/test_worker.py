"""What a worker does with one job: a score, a failure of ours, a proof."""

import pytest
from sqlalchemy import select

from app import problems, runs, submissions
from app.catalogue.problem_file import read_problem
from app.db import snapshot, transaction
from app.demo.built_in import example
from app.domain.submission import Submission as Work
from app.errors import SandboxUnavailable
from app.models import Run
from app.problems import Path
from app.sandbox.sandbox import Sandbox
from app.worker import Grader

CODE = "s33-masked-attention"
MAX_TRIES = 3


@pytest.fixture
def grader(database, sandbox) -> Grader:
    return Grader(database, sandbox, MAX_TRIES)


def accept(database, person, name="right.py", problem=CODE) -> Run:
    with transaction(database) as session:
        accepted = submissions.accept(
            session, person=person, problem_id=problem, work=Work(files={name: example(name)})
        )
        return session.scalars(select(Run).where(Run.submission_id == accepted.id)).one()


def row(database, run) -> Run:
    with snapshot(database) as session:
        return session.get_one(Run, run.id)


def test_a_job_ends_in_a_score_with_its_results_seed_and_level(database, served, grader):
    run = accept(database, served.student, "mask_after_softmax.py")
    grader.grade(run.id, run.ticket)
    with snapshot(database) as session:
        report = submissions.report(session, served.ta, run.submission_id, "en")
    assert (report.status, report.score, report.seed) == ("graded", 1.0, run.seed)
    assert report.sandbox_level == grader.sandbox.level
    assert [each.id for each in report.misconceptions] == ["mask_after_softmax"]
    assert report.timing.total_s >= report.timing.sandbox_s > 0


def test_the_same_job_delivered_again_changes_nothing(database, served, grader):
    run = accept(database, served.student)
    grader.grade(run.id, run.ticket)
    first = row(database, run)
    grader.grade(run.id, run.ticket)
    again = row(database, run)
    assert (again.tries, again.finished_at, again.score) == (1, first.finished_at, 10.0)


def test_a_lost_sandbox_costs_tries_and_in_the_end_the_run_is_errored(database, served, sandbox):
    with Sandbox(slots=1, allow_level=sandbox.level) as lost:
        pass
    grader = Grader(database, lost, MAX_TRIES)
    run = accept(database, served.student)
    for _ in range(MAX_TRIES - 1):
        with pytest.raises(SandboxUnavailable):
            grader.grade(run.id, run.ticket)
        assert row(database, run).status == "queued"
    grader.grade(run.id, run.ticket)
    found = row(database, run)
    assert (found.status, found.tries) == ("errored", MAX_TRIES)
    assert found.error == "the sandbox is closed"


def test_a_solution_that_fails_is_our_fault_and_is_not_tried_again(
    database, served, grader, shipped
):
    version = shipped[CODE]
    yaml = version.yaml.replace(
        b"solution: reference.ops.attention:masked_attention",
        b"solution: |\n  def masked_attention(Q, K, V, visible):\n      raise ValueError('broken')",
    )
    broken = read_problem(Path(version.path), yaml)
    with transaction(database) as session:
        problems.propose(session, broken, None, proven=True)
    run = accept(database, served.student)
    grader.grade(run.id, run.ticket)
    found = row(database, run)
    assert (found.status, found.tries) == ("errored", 1)
    assert "the solution gave raised" in found.error


def test_a_proof_publishes_its_kill_matrix_or_refuses_with_places(
    database, members, grader, shipped
):
    version = shipped["s34-a1-masked"]
    lax = read_problem(Path(version.path), version.yaml.replace(b"atol: 1.0e-9", b"atol: 9"))
    with transaction(database) as session:
        good = problems.propose(session, version, None)
        bad = problems.propose(session, lax, None)
    for each in (good, bad):
        grader.prove(each.id, each.id)
    with snapshot(database) as session:
        good, bad = (problems.version(session, each.id) for each in (good, bad))
        assert (good.state, bad.state) == ("live", "refused")
        assert good.proof["misconceptions"]["post_softmax"]["named"] is True
        line = bad.errors[0]["line"]
        assert b"post_softmax" in lax.yaml.splitlines()[line - 1]
        found = problems.find(session, members.student, "s34-a1-masked")
        assert found.version.sha256 == version.sha256


def test_recovery_hands_everything_that_was_open_to_the_next_worker(
    database, served, grader, shipped
):
    run = accept(database, served.student)
    with transaction(database) as session:
        runs.begin(session, run.id, run.ticket)
        runs.recover(session)
    grader.grade(run.id, run.ticket)
    assert (row(database, run).status, row(database, run).tries) == ("graded", 2)
