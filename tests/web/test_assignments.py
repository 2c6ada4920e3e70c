"""The start page."""

import re

from tests.web.conftest import a_result


def standing(page: str) -> str:
    """The text of the first problem's row that has a score."""
    text = re.sub(r"<[^>]+>", " ", page)
    return " ".join(text.split())


def test_a_student_sees_the_best_score_of_each_problem(browse, grade):
    grade(a_result(score=5.0))
    grade(a_result(score=3.0))
    page = standing(browse("student").get("/").text)
    assert "s33-masked-attention 2 submitted Best score 5 / 10" in page
    assert "s34-a1-masked not submitted Best score – / 10" in page


def test_a_classmates_score_is_not_mine(browse, grade):
    grade(who="classmate")
    assert "s33-masked-attention not submitted" in standing(browse("student").get("/").text)


def test_who_is_in_no_course_sees_an_empty_page(browse):
    response = browse("outsider").get("/")
    assert response.status_code == 200
    assert "nothing to do yet" in response.text
