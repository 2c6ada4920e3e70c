"""The page of a problem: what it tells, and what it does with what is sent."""

import io
import zipfile
from pathlib import Path

from app import problems, runs
from app.catalogue.problem_file import read_problem
from app.db import snapshot, transaction
from app.domain.problem import CodeProblem
from tests.web.conftest import MASKED, SHEET

ANSWERS = {
    "part": "answers",
    "A.0.0": "1",
    "A.0.1": "0",
    "A.1.0": "0.8044",
    "A.1.1": " 1/5 ",
    "unchanged_row": "2",
}

PAIR = """
id: pair
kind: code
title: {en: A pair, zh: 一对}
section: "1"
source: tests
points: 1
statement: {en: Write both., zh: 写出两个函数。}
entries:
  split: {parameters: {Y: {shape: [T, H]}, H: {dtype: int64, value: H}}, returns: {C: {shape: [H]}}}
  merge: {parameters: {C: {shape: [H]}}, returns: {Y: {shape: [T]}}, call_by: name}
  round_trip: {uses: [split, merge], parameters: {C: {shape: [H]}}, returns: {C: {shape: [H]}}}
given: "def round_trip(split, merge, C): return C"
starter: "def split(Y, H): ..."
solution: "def split(Y, H): return Y"
cases: {one: {call: split, dims: {T: 2, H: 3}}}
checks: [{id: only, kind: values, cases: [one], points: 1}]
"""


def sent_work(database, response):
    """The work that the page behind ``response`` is about."""
    with snapshot(database) as session:
        return runs.work_of(session, response.url.path.rsplit("/", 1)[1])


def test_a_problem_shows_statement_formulas_signature_and_starter(browse):
    page = browse("student").get(f"/problems/{MASKED}").text
    assert "<math" in page
    assert "masked_attention(Q, K, V, visible) → A, Z" in page
    assert "[T_q, T_k]" in page
    assert "True = may be seen" in page
    assert "512 MB of memory" in page


def test_a_problem_tells_nothing_of_its_solution_and_its_known_wrong_answers(browse, shipped):
    content = shipped[MASKED].problem
    assert isinstance(content, CodeProblem)
    page = browse("student").get(f"/problems/{MASKED}").text
    for secret in (content.solution, *(known.id for known in content.misconceptions)):
        assert secret not in page


def test_the_starter_can_be_downloaded(browse, shipped):
    content = shipped[MASKED].problem
    response = browse("student").get(f"/problems/{MASKED}/starter")
    assert response.text == content.starter
    assert response.headers["content-disposition"] == 'attachment; filename="masked_attention.py"'


def test_a_problem_of_answers_has_no_starter(browse):
    assert browse("student").get(f"/problems/{SHEET}/starter").status_code == 404


def test_a_sent_file_leads_to_its_report(browse, database):
    files = {"file": ("my work.py", b"x = 1")}
    response = browse("student").post(f"/problems/{MASKED}", data={"part": "files"}, files=files)
    assert response.url.path.startswith("/submissions/")
    assert sent_work(database, response).files == {"my work.py": b"x = 1"}
    assert "my work.py" in response.text


def test_several_files_can_be_sent_at_once(browse, database):
    files = [("file", ("a.py", b"import b")), ("file", ("b.py", b"x = 1"))]
    response = browse("student").post(f"/problems/{MASKED}", files=files)
    assert list(sent_work(database, response).files) == ["a.py", "b.py"]


def test_a_zip_is_unpacked_and_a_bad_one_told_beside_the_field(browse, database):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        made.writestr("hw/work.py", "x = 1")
        made.writestr("hw/数据/<b>.txt", "1")
    student, whole = browse("student"), buffer.getvalue()
    response = student.post(f"/problems/{MASKED}", files={"file": ("hw.zip", whole)})
    assert sent_work(database, response).files == {"work.py": b"x = 1", "数据/<b>.txt": b"1"}
    assert "数据/&lt;b&gt;.txt" in response.text
    response = student.post(f"/problems/{MASKED}", files={"file": ("hw.zip", whole[:-9])})
    assert response.status_code == 422
    assert "hw.zip is broken, or no zip archive" in response.text
    assert 'id="error-files"' in response.text


def test_two_files_of_one_name_are_refused(browse):
    files = [("file", ("a.py", b"x = 1")), ("file", ("a.py", b"x = 2"))]
    response = browse("student").post(f"/problems/{MASKED}", files=files)
    assert response.status_code == 422
    assert "Two files are called a.py" in response.text


def test_code_can_be_written_on_the_page(browse, database):
    typed = {"part": "code", "code": "x = 1\r\ny = 2\r\n"}
    response = browse("student").post(f"/problems/{MASKED}", data=typed)
    assert sent_work(database, response).files == {"submission.py": b"x = 1\ny = 2\n"}


def test_sending_without_a_file_says_so_beside_the_field(browse):
    empty = {"file": ("", b"")}
    response = browse("student").post(f"/problems/{MASKED}", data={"part": "files"}, files=empty)
    assert response.status_code == 422
    assert 'aria-describedby="error-files"' in response.text
    assert "No file is chosen yet" in response.text


def test_a_file_of_another_kind_is_named_in_the_refusal(browse):
    files = {"file": ("<b>.txt", b"x")}
    response = browse("student").post(f"/problems/{MASKED}", files=files)
    assert response.status_code == 422
    assert "&lt;b&gt;.txt" in response.text


def test_a_file_that_is_too_large_is_refused_by_its_size(browse, settings):
    # A form may hold a little more than the files; the sum of the files decides.
    files = {"file": ("large.py", b"#" * (settings.upload_limit + 1))}
    response = browse("student").post(f"/problems/{MASKED}", files=files)
    assert response.status_code == 413
    assert f"at most {settings.upload_limit} are taken" in response.text
    assert 'id="error-files"' in response.text


def test_a_body_that_is_far_too_large_is_a_page_of_its_own(browse, settings):
    files = {"file": ("large.py", b"#" * (settings.upload_limit + 2**20))}
    for language, sentence in [("en", "bytes; at most"), ("zh", "字节；最多接受")]:
        headers = {"Accept-Language": language}
        response = browse("student").post(f"/problems/{MASKED}", files=files, headers=headers)
        assert response.status_code == 413
        assert response.headers["content-type"].startswith("text/html")
        assert sentence in response.text


def test_answers_are_taken_from_their_fields(browse, database):
    response = browse("student").post(f"/problems/{SHEET}", data=ANSWERS)
    assert sent_work(database, response).answers == {
        "A": [["1", "0"], ["0.8044", "1/5"]],
        "unchanged_row": "2",
    }


def test_an_answer_that_cannot_be_read_is_marked_and_nothing_typed_is_lost(browse):
    typed = ANSWERS | {"A.1.0": "0,8", "unchanged_row": "two"}
    response = browse("student").post(f"/problems/{SHEET}", data=typed)
    assert response.status_code == 422
    assert 'id="error-A"' in response.text
    assert "0.8, with a decimal point" in response.text
    assert 'id="error-unchanged_row"' in response.text
    assert 'id="error-Z"' not in response.text
    assert 'value="0,8"' in response.text
    assert 'value="two"' in response.text


def test_a_matrix_that_is_half_filled_in_names_the_empty_entry(browse):
    response = browse("student").post(f"/problems/{SHEET}", data=ANSWERS | {"A.0.1": ""})
    assert response.status_code == 422
    assert "entry [0, 1] is empty" in response.text


def test_what_is_wrong_with_a_field_is_told_in_the_language_of_the_page(browse):
    typed = ANSWERS | {"A.1.0": "0,8", "Z.0.0": "1", "unchanged_row": "4,800"}
    zh = {"Accept-Language": "zh"}
    response = browse("student").post(f"/problems/{SHEET}", data=typed, headers=zh)
    assert response.status_code == 422
    assert "元素 [1, 0]：&#39;0,8&#39; 不是一个数：请写 0.8，用小数点" in response.text
    assert "元素 [0, 1] 为空" in response.text
    assert "&#39;4,800&#39; 不是一个整数：请去掉逗号" in response.text
    assert "字段 unchanged_row" not in response.text


def test_a_sheet_with_nothing_filled_in_is_not_sent(browse):
    response = browse("student").post(f"/problems/{SHEET}", data={"part": "answers", "Z.0.0": " "})
    assert response.status_code == 422
    assert "Nothing is filled in yet" in response.text


def test_answers_can_be_sent_as_a_file_too(browse, database):
    files = {"file": ("sheet.json", b'{"unchanged_row": 1}')}
    response = browse("student").post(f"/problems/{SHEET}", data={"part": "files"}, files=files)
    assert sent_work(database, response).answers == {"unchanged_row": 1}


def test_my_attempts_stand_beside_the_problem(browse, grade):
    mine, other = grade(), grade(who="classmate")
    page = browse("student").get(f"/problems/{MASKED}").text
    assert mine in page
    assert other not in page


def test_posting_too_often_is_refused_with_the_time_to_wait(browse, settings):
    client = browse("student")
    for _ in range(settings.rates.posts):
        client.post(f"/problems/{SHEET}", data={"part": "answers"})
    response = client.post(f"/problems/{SHEET}", data={"part": "answers"})
    assert response.status_code == 429
    assert int(response.headers["retry-after"]) > 0


def test_an_outsider_does_not_learn_what_problems_there_are(browse):
    assert browse("outsider").get(f"/problems/{MASKED}").status_code == 403


def test_every_function_to_write_is_shown_and_no_procedure_of_the_problem(
    browse, database, shipped
):
    with transaction(database) as session:
        version = read_problem(Path("heads/pair.yaml"), PAIR.encode())
        problems.propose(session, version, None, proven=True)
    page = browse("student").get("/problems/pair").text
    assert "split(Y, H) → C" in page
    assert "merge(C) → Y" in page
    assert "round_trip" not in page
    assert page.count("their order is up to you") == 1


def test_a_dictionary_among_the_parameters_is_shown_with_its_members(browse, database, shipped):
    known = shipped[MASKED]
    old = b"  visible: {shape"
    new = b"  blocks: {repeat: L, members: {W: {shape: [d_k]}}}\n" + old
    with transaction(database) as session:
        version = read_problem(Path(known.path), known.yaml.replace(old, new, 1))
        problems.propose(session, version, None, proven=True)
    page = browse("student").get(f"/problems/{MASKED}").text
    assert "a list of L dictionaries" in page
    assert "<code>blocks[i].W</code>" in page


def test_a_dictionary_that_two_functions_take_is_listed_once(browse, database, shipped):
    with transaction(database) as session:
        problems.propose(session, shipped["s36-encoder-decoder"], None, proven=True)
    page = browse("student").get("/problems/s36-encoder-decoder").text
    assert page.count("<code>weights.enc[i].self.WQ</code>") == 1
    assert page.count('<th scope="row"><code>weights</code></th>') == 2
    assert page.count("as above") == 2  # weights and config


def test_a_text_problem_asks_for_a_text_with_its_fields_beside_it(browse, with_text):
    page = browse("student").get(f"/problems/{with_text}").text
    assert 'name="submission.text"' in page
    assert 'name="wrong_row1.0"' in page
    assert "distribution" in page
    assert "every weight would be 1" not in page


def test_a_text_is_taken_and_a_longer_one_comes_back_with_the_reason(browse, with_text):
    data = {"part": "answers", "submission.text": "Each query.", "wrong_row1.0": "0.3"}
    student = browse("student")
    data["wrong_row1.1"] = "0.5"
    assert "Each query." in student.post(f"/problems/{with_text}", data=data).text
    data["submission.text"] = "x" * 4001
    response = student.post(f"/problems/{with_text}", data=data)
    assert response.status_code == 422
    assert "at most 4000" in response.text
    assert "x" * 4001 in response.text


def test_every_shipped_problem_has_a_page_and_details(browse, ask, database, served, shipped):
    with transaction(database) as session:
        for version in shipped.values():
            problems.propose(session, version, None, proven=True)
    browser, client = browse("student"), ask("student")
    for name in shipped:
        assert browser.get(f"/problems/{name}").status_code == 200, name
        details = client.get(f"/api/v1/problems/{name}").json()
        assert sum(check["points"] for check in details["checks"]) == details["points"], name
