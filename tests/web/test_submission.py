"""The page of a submission: the report, what stays hidden, and the points that staff set."""

import re

import pytest
from sqlalchemy import select

from app import audit, runs, submissions
from app.db import snapshot, transaction
from app.domain.outcome import Outcome
from app.domain.run import CheckResult, Finding, Remark, RunResult
from app.domain.submission import Submission as Work
from app.models import Run
from tests.web.conftest import MASKED, a_result

EXPECTED, HIDDEN_VALUE, SEED = "0.987", "0.424242", 987654321987


def raised(file: str, line: int, **more: int) -> CheckResult:
    facts = {"case": "assignment1", "entry": "f", "error_type": "ValueError", "detail": "no"}
    finding = Finding(key="raised", facts=facts | {"file": file, "line": line} | more)
    return CheckResult(id="fixed", outcome=Outcome.RAISED, points=0.0, finding=finding)


def overriding(seen: str = "", points: str = "1.5", reason: str = "right idea") -> dict[str, str]:
    return {"check": "fixed", "points": points, "reason": reason, "seen": seen}


def state_of(page: str) -> str:
    """What the page's first form of points has seen."""
    return re.findall(r'name="seen" value="([^"]*)"', page)[0]


def test_a_student_reads_the_idea_behind_the_wrong_answer_first(browse, grade):
    page = browse("student").get(f"/submissions/{grade()}").text
    assert "An idea to look at again" in page
    assert page.index("rows no longer sum to 1") < page.index('id="check-fixed"')
    assert "5</b>" in page


def test_a_student_sees_the_own_matrix_with_the_wrong_cell_marked(browse, grade):
    page = browse("student").get(f"/submissions/{grade()}").text
    assert page.count("<svg role=") == 1
    assert "Your A: 2 rows, 2 columns, 1 wrong entries" in page
    assert page.count('class="halo"') == 1
    assert ">0.6698</text>" in page


def test_a_student_gets_no_expected_value_no_seed_and_nothing_of_hidden_checks(browse, grade):
    page = browse("student").get(f"/submissions/{grade(a_result(seed=SEED))}").text
    for secret in (EXPECTED, HIDDEN_VALUE, "random[0]", str(SEED), "-0.317"):
        assert secret not in page
    assert "override" not in page


def test_staff_see_expected_values_differences_hidden_checks_and_the_seed(browse, grade):
    page = browse("ta").get(f"/submissions/{grade()}").text
    assert page.count("<svg role=") == 6
    for shown in (EXPECTED, HIDDEN_VALUE, "random[0]", "-0.3172", "mask_after_softmax", "Seed"):
        assert shown in page


def test_a_classmates_submission_is_not_there(browse, grade):
    submission_id = grade(who="classmate")
    client = browse("student")
    assert client.get(f"/submissions/{submission_id}").status_code == 404
    assert client.get(f"/submissions/{submission_id}/files/0").status_code == 404


def test_the_message_of_an_exception_leads_to_its_line(browse, grade):
    result = a_result(checks=(raised("work.py", 2),))
    submission_id = grade(result, work_py=b"x = 1\nraise")
    page = browse("student").get(f"/submissions/{submission_id}").text
    assert '<a href="#file-0-2">Go to the line</a>' in page
    assert 'id="file-0-2"' in page


def test_files_in_folders_are_shown_by_their_paths_and_linked_to(browse, grade):
    result = a_result(checks=(raised("model/<b>/layers.py", 2),))
    files = {"work_py": b"x = 1", "model/<b>/layers_py": b"x = 2\nraise", "w_npy": b"\0\1"}
    submission_id = grade(result, **files)
    page = browse("ta").get(f"/submissions/{submission_id}").text
    assert 'class="file-name break">model/&lt;b&gt;/layers.py</h2>' in page
    assert '<a href="#file-1-2">Go to the line</a>' in page
    assert "This file is no text." in page
    for position, data in enumerate(files.values()):
        sent = browse("student").get(f"/submissions/{submission_id}/files/{position}")
        assert (sent.content, sent.headers["x-content-type-options"]) == (data, "nosniff")
        assert "/" not in sent.headers["content-disposition"]


@pytest.mark.parametrize("file", ["elsewhere.py", "pkg/work.py", "/work.py", ""])
def test_a_line_of_a_file_that_was_not_sent_is_no_link(file, browse, grade):
    result = a_result(checks=(raised(file, 2),))
    assert "Go to the line" not in browse("student").get(f"/submissions/{grade(result)}").text


NOTEBOOK = b'{"cells": [{"cell_type": "code", "source": "%who\\nraise"}]}'


def test_what_was_noticed_while_loading_stands_on_the_page_and_leads_to_its_line(browse, grade):
    remarks = (
        Remark(kind="left_out", file="hw.ipynb", cell=1, line=1, text="%who"),
        Remark(kind="only_tagged", file="hw.ipynb"),
        Remark(kind="left_out", file="", cell=1, line=1, text="forged"),
    )
    submission_id = grade(a_result(remarks=remarks), hw_ipynb=NOTEBOOK)
    page = browse("student").get(f"/submissions/{submission_id}").text
    assert "hw.ipynb, cell 1, line 1: %who is a command of Jupyter" in page
    assert page.count('<a href="#file-0-cell-1-1">Go to the line</a>') == 1
    assert 'id="file-0-cell-1-1"' in page
    assert "hw.ipynb: only the cells tagged “grade” were run" in page
    assert "cell_type" not in page
    chinese = browse("student", accept_language="zh").get(f"/submissions/{submission_id}").text
    assert "hw.ipynb 第 1 个单元格第 1 行：%who 是 Jupyter 命令" in chinese
    assert "单元格 1" in chinese


def test_the_message_of_an_exception_in_a_notebook_leads_to_the_line_of_its_cell(browse, grade):
    result = a_result(checks=(raised("hw.ipynb", 2, cell=1),))
    page = browse("student").get(f"/submissions/{grade(result, hw_ipynb=NOTEBOOK)}").text
    assert "(hw.ipynb, cell 1, line 2)" in page
    assert '<a href="#file-0-cell-1-2">Go to the line</a>' in page


def test_a_file_comes_back_as_it_was_sent_and_never_as_a_page(browse, grade):
    submission_id = grade(work_py=b"<script>alert(1)</script>")
    response = browse("ta").get(f"/submissions/{submission_id}/files/0")
    assert response.content == b"<script>alert(1)</script>"
    assert response.headers["content-type"] == "application/octet-stream"
    assert response.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize("position", ["1", "-1", "x", "00", "9" * 30, "9" * 5000, "٣"])
def test_a_file_that_does_not_exist_is_not_found(position, browse, grade):
    response = browse("student").get(f"/submissions/{grade()}/files/{position}")
    assert response.status_code == 404


def test_a_waiting_submission_says_so_and_reloads_without_a_script(browse, database, served):
    with transaction(database) as session:
        work = Work(files={"a.py": b"x"})
        accepted = submissions.accept(session, person=served.student, problem_id=MASKED, work=work)
    page = browse("student").get(f"/submissions/{accepted.id}").text
    assert "It is in the queue" in page
    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in page
    assert "data-final" not in page


def test_a_final_submission_does_not_reload(browse, grade):
    page = browse("student").get(f"/submissions/{grade()}").text
    assert 'http-equiv="refresh"' not in page
    assert "data-final" in page


def test_points_that_staff_set_stand_on_the_page_and_in_the_audit_log(browse, database, grade):
    submission_id = grade()
    staff = browse("ta")
    response = staff.post(f"/submissions/{submission_id}/override", data=overriding())
    assert response.status_code == 200
    assert "Points set by Ta" in response.text
    page = browse("student").get(f"/submissions/{submission_id}").text
    assert "6.5</b>" in page
    assert "right idea" in page
    assert "Points set by course staff" in page
    with snapshot(database) as session:
        (entry,) = audit.about(session, f"submission:{submission_id}")
    assert (entry.action, entry.details["after"]) == ("override", 1.5)


def test_who_saves_over_an_unseen_change_is_told_and_loses_no_word(browse, grade):
    path = f"/submissions/{grade()}"
    first, second = browse("ta"), browse("instructor")
    seen = state_of(second.get(path).text)
    first.post(f"{path}/override", data=overriding(seen, points="1"))
    late = second.post(f"{path}/override", data=overriding(seen, "2", "mine <b>"))
    assert late.status_code == 412
    assert "changed by somebody else" in late.text
    assert "mine &lt;b&gt;" in late.text
    assert "1</b>" in browse("student").get(path).text
    again = second.post(f"{path}/override", data=overriding(state_of(late.text), "2", "mine"))
    assert again.status_code == 200
    assert "7</b>" in browse("student").get(path).text


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"points": "11"}, "`fixed` gives 0 to 2"),
        ({"points": "nan"}, "nan points"),
        ({"points": "much"}, "is not one number"),
        ({"reason": " "}, "needs a reason"),
    ],
)
def test_points_that_cannot_be_given_are_refused_beside_their_form(
    changes, sentence, browse, grade
):
    path = f"/submissions/{grade()}"
    response = browse("ta").post(f"{path}/override", data={**overriding(), **changes})
    assert response.status_code == 422
    assert 'id="refusal-fixed"' in response.text
    assert sentence in response.text


def test_an_unknown_check_cannot_be_given_points(browse, grade):
    response = browse("ta").post(
        f"/submissions/{grade()}/override", data=overriding() | {"check": "<b>"}
    )
    assert response.status_code == 422


def test_a_student_cannot_set_points(browse, grade):
    response = browse("student").post(f"/submissions/{grade()}/override", data=overriding())
    assert response.status_code == 403


def test_staff_decide_the_lines_of_a_text_on_its_page(browse, database, served, with_text):
    work = Work(text="Each query <b> needs a distribution.")
    checks = tuple(
        CheckResult(id=line, outcome=Outcome.PENDING, points=0.0)
        for line in ("distribution", "leak", "decode")
    )
    result = RunResult(status="needs_review", score=0.0, checks=checks, seed=SEED, sandbox_level="")
    with transaction(database) as session:
        sent = submissions.accept(session, person=served.student, problem_id=with_text, work=work)
        run = session.scalars(select(Run).where(Run.submission_id == sent.id)).one()
        begun = runs.begin(session, run.id, run.ticket)
        runs.publish(session, run.id, begun.fence, result)
    student, staff = browse("student"), browse("ta")
    path = f"/submissions/{sent.id}"
    page = student.get(path).text
    assert page.count('class="check open"') == 3
    assert "Each query &lt;b&gt; needs" in page
    assert "not negative and sum to 1" not in page  # what earns the points
    assert "not negative and sum to 1" in staff.get(path).text
    for check, points in (("distribution", "3"), ("leak", "1.5"), ("decode", "0")):
        decision = {"check": check, "points": points, "reason": "read", "seen": ""}
        staff.post(f"{path}/override", data=decision)
    page = student.get(path).text
    assert ("needs review" in page, "pending" in page, "4.5</b>" in page) == (False, False, True)
    assert 'data-status="graded"' in page
