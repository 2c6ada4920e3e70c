"""Lists: submissions with their filters and pages, and the files of the folder."""

import re
from pathlib import Path

import pytest

from app import problems
from app.catalogue.problem_file import read_problem
from app.db import transaction
from app.errors import Place
from tests.web.conftest import MASKED


def listed(page: str) -> list[str]:
    """The ids of the submissions in a list, in order."""
    return re.findall(r'<th scope="row"[^>]*><a href="/submissions/([^"]+)"', page)


def test_staff_see_all_submissions_with_their_scores_newest_first(browse, grade):
    first, second = grade(), grade(who="classmate")
    page = browse("ta").get("/submissions").text
    assert listed(page) == [second, first]
    assert "classmate@example.org" in page
    assert page.count("<b>5</b>") == 2


def test_a_student_sees_only_the_own_submissions_and_nobodys_name(browse, grade):
    mine, _ = grade(), grade(who="classmate")
    page = browse("student").get("/submissions").text
    assert listed(page) == [mine]
    assert "example.org" not in page


CLASSMATE = "student=classmate@example.org"
NOTHING = ["problem=s34-a1-masked", "status=queued", "student=nobody", "status=x"]


@pytest.mark.parametrize("query", [CLASSMATE, CLASSMATE.upper().replace("STUDENT", "student")])
def test_a_student_is_found_by_address_in_any_case(query, browse, grade):
    grade()
    theirs = grade(who="classmate")
    assert listed(browse("ta").get(f"/submissions?{query}").text) == [theirs]


@pytest.mark.parametrize("query", NOTHING)
def test_a_filter_that_fits_nothing_gives_an_empty_list(query, browse, grade):
    grade()
    page = browse("ta").get(f"/submissions?{query}").text
    assert listed(page) == []
    assert "No submissions here" in page


def test_empty_filters_are_none(browse, grade):
    submission_id = grade()
    page = browse("ta").get("/submissions?problem=&student=&status=&cursor=").text
    assert listed(page) == [submission_id]


def test_pages_follow_each_other_without_a_gap_and_keep_the_filters(browse, grade):
    ids = [grade() for _ in range(53)][::-1]
    client = browse("ta")
    first = client.get(f"/submissions?problem={MASKED}").text
    older = re.search(r'href="(/submissions\?[^"]+)" rel="next"', first)
    assert older
    assert "problem=s33" in older[1]
    second = client.get(older[1].replace("&amp;", "&")).text
    assert listed(first) + listed(second) == ids
    assert 'rel="next"' not in second
    assert "Newest" in second


def test_staff_see_the_errors_of_a_file_with_line_and_column(browse, database, served):
    with transaction(database) as session:
        place = Place("masks/new.yaml", 3, 5, "the key `points` is <b>missing</b>")
        problems.see_file(session, "masks/new.yaml", "a" * 64, [place])
    page = browse("ta").get("/problem-files").text
    assert "line 3, column 5" in page
    assert "is &lt;b&gt;missing&lt;/b&gt;" in page
    assert "Nothing of it is served" in page


def test_staff_see_that_the_last_good_version_of_a_broken_file_is_served(browse, database, served):
    with transaction(database) as session:
        place = Place(f"masks/{MASKED}.yaml", 1, 1, "broken")
        problems.see_file(session, f"masks/{MASKED}.yaml", "a" * 64, [place])
    assert "The last good version is still served" in browse("ta").get("/problem-files").text


def test_staff_see_what_is_served_being_proven_and_replaced(browse, database, shipped):
    first = shipped[MASKED]
    changed = read_problem(Path(first.path), first.yaml + b"\n# changed\n")
    with transaction(database) as session:
        problems.see_file(session, "masks/a.yaml", first.sha256, first, proven=True)
    assert "is-served" in browse("ta").get("/problem-files").text
    with transaction(database) as session:
        problems.see_file(session, "masks/a.yaml", changed.sha256, changed)
    assert "is-proving" in browse("ta").get("/problem-files").text
    with transaction(database) as session:
        problems.see_file(session, "masks/a.yaml", first.sha256, first, proven=True)
        problems.propose(session, changed, None, proven=True)
    assert "is-replaced" in browse("ta").get("/problem-files").text
