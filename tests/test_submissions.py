"""Accepting: one transaction that either promises a grading or leaves nothing behind."""

import hashlib

import pytest
from sqlalchemy import func, select

from app import overrides, runs, submissions
from app.db import Sessions, snapshot, transaction
from app.domain.outcome import Outcome
from app.domain.run import CheckResult, Evidence, Finding, RunResult
from app.domain.submission import Submission as Work
from app.errors import InvalidRequest, NotFound
from app.models import Job, Person, Run, Submission
from app.submissions import Accepted

CODE, SHEET = "s33-masked-attention", "s34-a1-masked"


def work(text: str = "x = 1") -> Work:
    return Work(files={"attention.py": text.encode()})


def accept(
    database: Sessions, person: Person, sent: Work | None = None, problem: str = CODE, **more: str
) -> Accepted:
    with transaction(database) as session:
        return submissions.accept(
            session, person=person, problem_id=problem, work=sent or work(), **more
        )


def grade(database: Sessions, accepted: Accepted, **changes: object) -> None:
    """Begins and publishes as a worker does."""
    with transaction(database) as session:
        run = session.scalars(select(Run).where(Run.submission_id == accepted.id)).one()
        begun = runs.begin(session, run.id, run.ticket)
    assert begun
    result = RunResult(
        **{  # type: ignore[arg-type]
            "status": "graded",
            "score": 3.0,
            "checks": (
                CheckResult(
                    id="fixed",
                    outcome=Outcome.WRONG,
                    points=0.0,
                    finding=Finding(key="shape", facts={"name": "A", "got": [2], "expected": [3]}),
                    misconception="mask_after_softmax",
                    evidence=evidence("assignment1"),
                ),
                CheckResult(
                    id="random",
                    outcome=Outcome.PASSED,
                    points=3.0,
                    evidence=evidence("random"),
                ),
            ),
            "seed": begun.seed,
            "sandbox_level": "full",
            "printed": "seen\n",
            "printed_hidden": "unseen\n",
            **changes,
        }
    )
    with transaction(database) as session:
        assert runs.publish(session, run.id, begun.fence, result)


def evidence(case: str) -> Evidence:
    return Evidence(
        case=case,
        name="A",
        index=(0, 1),
        student=[[0.25, "nan"]],
        expected=[[0.5, 0.5]],
        difference=[[0.25, "nan"]],
        wrong=[[True, True]],
    )


def statuses(database: Sessions) -> list[str]:
    with snapshot(database) as session:
        return list(session.scalars(select(Run.status).order_by(Run.id)))


def test_an_accepted_submission_has_its_bytes_a_queued_run_and_a_job(database, served):
    accepted = accept(database, served.student, work("y = 2"))
    with snapshot(database) as session:
        assert runs.work_of(session, accepted.id) == work("y = 2")
        run = session.scalars(select(Run)).one()
        assert (run.submission_id, run.status, run.number) == (accepted.id, "queued", 1)
        (payload,) = session.scalars(select(Job.payload))
        assert payload == {"run_id": run.id, "ticket": run.ticket}
    assert (accepted.status, accepted.attempt, accepted.problem) == ("queued", 1, CODE)


def test_answers_and_text_come_back_as_they_were_sent(database, served):
    sent = Work(answers={"A": [[1, 0], ["1/8", 0.5]], "名": float("inf")}, text="因为…")
    accepted = accept(database, served.student, sent, SHEET)
    with snapshot(database) as session:
        assert runs.work_of(session, accepted.id) == sent


def test_an_exception_after_accepting_leaves_neither_row_nor_job(database, served):
    def interrupted() -> None:
        with transaction(database) as session:
            submissions.accept(session, person=served.student, problem_id=CODE, work=work())
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        interrupted()
    with snapshot(database) as session:
        for table in (Submission, Run, Job):
            assert session.scalar(select(func.count()).select_from(table)) == 0


def test_every_run_draws_its_own_seed_that_json_keeps_exactly(database, served):
    for n in range(5):
        accept(database, served.student, work(f"x = {n}"))
    with snapshot(database) as session:
        seeds = set(session.scalars(select(Run.seed)))
    assert len(seeds) == 5
    assert all(0 <= seed < 2**53 for seed in seeds)


def test_the_hash_of_one_file_is_that_of_its_bytes():
    assert submissions.sha256_of(work("y")) == hashlib.sha256(b"y").hexdigest()


def test_the_hash_depends_on_names_bytes_answers_and_text():
    sent = [
        Work(files={"a.py": b"x", "b.py": b"y"}),
        Work(files={"a.py": b"y", "b.py": b"x"}),
        Work(files={"a.py": b"x", "c.py": b"y"}),
        Work(answers={"n": 1}),
        Work(answers={"n": 2}),
        Work(answers={"n": 1}, text="why"),
    ]
    assert len({submissions.sha256_of(each) for each in sent}) == len(sent)


def test_who_is_not_in_the_course_cannot_submit(database, served):
    with pytest.raises(NotFound, match="no problem"):
        accept(database, served.outsider)
    with pytest.raises(NotFound, match="no problem `x`"):
        accept(database, served.student, problem="x")


def test_a_newer_submission_supersedes_a_queued_one_of_the_same_problem(database, served):
    accept(database, served.student)
    accept(database, served.student, Work(answers={"unchanged_row": 1}), SHEET)
    accept(database, served.classmate)
    newest = accept(database, served.student)
    assert statuses(database) == ["superseded", "queued", "queued", "queued"]
    assert newest.attempt == 1  # what was never graded costs nothing


def test_a_course_can_keep_every_submission(database, served):
    with transaction(database) as session:
        session.merge(served.course).supersede = "never"
    assert [accept(database, served.student).attempt for _ in range(3)] == [1, 2, 3]
    assert statuses(database) == ["queued"] * 3


def test_a_graded_submission_costs_an_attempt_and_an_errored_one_does_not(database, served):
    grade(database, accept(database, served.student))
    second = accept(database, served.student)
    assert second.attempt == 2
    with transaction(database) as session:
        run = session.scalars(select(Run).where(Run.submission_id == second.id)).one()
        begun = runs.begin(session, run.id, run.ticket)
        runs.fail(session, run.id, begun.fence, "the disk is full", final=True)
    assert accept(database, served.student).attempt == 2


def test_who_has_much_open_waits_longer(database, served):
    with transaction(database) as session:
        session.merge(served.course).supersede = "never"
    for _ in range(4):
        accept(database, served.student)
    accept(database, served.classmate)
    with snapshot(database) as session:
        priorities = list(session.scalars(select(Job.priority).order_by(Job.id)))
    assert priorities == [1000, 999, 998, 997, 1000]


def test_the_same_key_and_request_give_the_first_answer_again(database, served):
    keys = {"idempotency_key": "k", "request_sha256": "r"}
    first = accept(database, served.student, **keys)
    again = accept(database, served.student, work("other"), **keys)
    assert again.replayed
    assert (again.id, again.received_at, again.attempt) == (first.id, first.received_at, 1)
    assert statuses(database) == ["queued"]


def test_a_key_used_for_another_request_is_refused(database, served):
    accept(database, served.student, idempotency_key="k", request_sha256="r")
    with pytest.raises(InvalidRequest, match="'k' came before with another request"):
        accept(database, served.student, idempotency_key="k", request_sha256="s")


def test_two_people_may_use_the_same_key(database, served):
    first = accept(database, served.student, idempotency_key="k", request_sha256="r")
    other = accept(database, served.classmate, idempotency_key="k", request_sha256="r")
    assert not other.replayed
    assert other.id != first.id


# Looking


def test_a_submission_is_seen_by_its_author_and_staff_alone(database, served):
    accepted = accept(database, served.student)
    with snapshot(database) as session:
        seen = {}
        for name in ("student", "classmate", "ta", "instructor", "outsider", "admin"):
            try:
                seen[name] = submissions.find(session, getattr(served, name), accepted.id).viewer
            except NotFound:
                seen[name] = None
    assert seen == {
        "student": "student",
        "classmate": None,
        "ta": "staff",
        "instructor": "staff",
        "outsider": None,
        "admin": "staff",
    }


def test_before_the_first_run_ends_a_report_has_no_score_and_no_checks(database, served):
    accepted = accept(database, served.student)
    with snapshot(database) as session:
        report = submissions.report(session, served.student, accepted.id, "en")
    assert (report.id, report.status, report.score) == (accepted.id, "queued", None)
    assert (report.checks, report.seed, report.max_score) == ([], None, 10.0)


def test_a_student_sees_nothing_that_is_hidden(database, served):
    accepted = accept(database, served.student)
    grade(database, accepted)
    with snapshot(database) as session:
        view = submissions.find(session, served.student, accepted.id)
        report = submissions.report_on(view, "en")
        seen = submissions.evidence(view)
    assert (report.status, report.score, report.seed) == ("graded", 3.0, None)
    assert report.stdout == "seen\n"
    assert [(check.id, bool(check.message)) for check in report.checks] == [
        ("fixed", True),
        ("random", False),
    ]
    assert [each.id for each in report.misconceptions] == ["mask_after_softmax"]
    assert list(seen) == ["fixed"]
    assert (seen["fixed"].expected, seen["fixed"].difference) == (None, None)
    assert seen["fixed"].student == [[0.25, "nan"]]
    assert seen["fixed"].wrong == [[True, True]]


def test_staff_and_a_student_after_reveal_see_everything(database, served):
    accepted = accept(database, served.student)
    grade(database, accepted)
    with snapshot(database) as session:
        for viewer, revealed in ((served.ta, False), (served.student, True)):
            view = submissions.find(session, viewer, accepted.id)
            assert submissions.report_on(view, "en", revealed=revealed).seed == view.run.seed
            assert submissions.evidence(view, revealed=revealed) == {
                "fixed": evidence("assignment1"),
                "random": evidence("random"),
            }


def test_our_fault_is_told_to_a_student_without_its_details(database, served):
    accepted = accept(database, served.student)
    with transaction(database) as session:
        run = session.scalars(select(Run)).one()
        begun = runs.begin(session, run.id, run.ticket)
        runs.fail(session, run.id, begun.fence, "the disk is full", final=True)
    with snapshot(database) as session:
        told = submissions.report(session, served.student, accepted.id, "en")
        staff = submissions.report(session, served.ta, accepted.id, "en")
    assert (told.status, told.score) == ("errored", None)
    assert told.warnings == ["grading failed by our fault and costs no attempt"]
    assert staff.warnings == ["grading failed by our fault and costs no attempt (the disk is full)"]


def test_pages_are_newest_first_and_follow_each_other_without_gap(database, served):
    with transaction(database) as session:
        session.merge(served.course).supersede = "never"
    ids = [accept(database, served.student).id for _ in range(7)]
    seen, cursor, sizes = [], None, []
    while True:
        with snapshot(database) as session:
            page = submissions.page(session, served.student, cursor=cursor, limit=3)
        seen += [line.id for line in page.lines]
        sizes.append(len(page.lines))
        cursor = page.next
        if cursor is None:
            break
    assert seen == ids[::-1]
    assert sizes == [3, 3, 1]


def test_a_list_can_be_narrowed_and_shows_a_student_their_own_alone(database, served):
    mine = accept(database, served.student)
    sheet = accept(database, served.student, Work(answers={"unchanged_row": 1}), SHEET)
    theirs = accept(database, served.classmate)
    grade(database, theirs)

    def ids(viewer: Person, **narrow: str) -> list[str]:
        with snapshot(database) as session:
            return [line.id for line in submissions.page(session, viewer, **narrow).lines]

    assert ids(served.student) == [sheet.id, mine.id]
    assert ids(served.ta) == [theirs.id, sheet.id, mine.id]
    assert ids(served.ta, problem=SHEET) == [sheet.id]
    assert ids(served.ta, status="graded") == [theirs.id]
    assert ids(served.ta, student="Classmate@example.org") == [theirs.id]
    assert ids(served.ta, student=served.student.id, problem=CODE) == [mine.id]
    assert ids(served.student, student=served.classmate.id) == []
    assert ids(served.outsider) == []


def test_a_list_shows_the_score_with_a_persons_points_in_it(database, served):
    accepted = accept(database, served.student)
    grade(database, accepted)
    with transaction(database) as session:
        overrides.set(session, served.ta, accepted.id, "fixed", 1.5, "right idea")
    with snapshot(database) as session:
        (line,) = submissions.page(session, served.student).lines
        assert (line.score, line.max_score, line.status) == (4.5, 10.0, "graded")
