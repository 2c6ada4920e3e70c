"""What people send becomes a submission, or one sentence that names the file."""

from pathlib import Path

import pytest

from app.catalogue.problem_file import read_problem
from app.errors import SubmissionTooLarge, UnreadableSubmission
from app.uploads.read import read_answers, read_files

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def code():
    return read_problem(ROOT / "problems/masks/s33-masked-attention.yaml").problem


@pytest.fixture(scope="module")
def sheet():
    return read_problem(ROOT / "problems/assignment1/s34-a1-masked.yaml").problem


@pytest.fixture(scope="module")
def essay():
    return read_problem(ROOT / "problems/closed-book/cb-query-axis-text.yaml").problem


@pytest.mark.parametrize("name", ["a.txt", "a.md"])
def test_a_text_is_taken_with_plain_line_ends(name, essay):
    submission = read_files(essay, {name: "\ufeffeins\r\n二\r".encode()})
    assert (submission.text, dict(submission.answers), dict(submission.files)) == (
        "eins\n二\n",
        {},
        {},
    )


def test_a_text_and_its_answers_come_in_one_json_file(essay):
    data = b'{"text": "two", "answers": {"wrong_row1": [3, 5]}}'
    submission = read_files(essay, {"a.json": data})
    assert (submission.text, submission.answers) == ("two", {"wrong_row1": [3, 5]})
    assert read_files(essay, {"a.json": b'{"answers": {}}'}).text == ""
    assert read_files(essay, {"a.md": b" \n"}).is_empty


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"a.py": b"x = 1"}, "takes a .txt, .md or .json file"),
        ({"a.txt": b"x", "b.txt": b"y"}, "takes one file; 2 were sent"),
        ({"a.txt": b"\xff"}, "byte 0 of a.txt is not UTF-8"),
        ({"a.txt": b"a\0"}, "NUL"),
        ({"a.txt": b"x" * 4001}, "has 4001 characters; cb-query-axis-text takes at most 4000"),
        ({"a.json": b'{"texts": "x"}'}, "unknown key 'texts'"),
        ({"a.json": b'{"text": 7}'}, "text is 7; expected a string"),
        ({"a.json": b'{"answers": [7]}'}, "answers is no object"),
        ({"a.json": b'{"answers": {"row": 7}}'}, "unknown field 'row'"),
    ],
)
def test_a_text_that_cannot_be_taken_is_refused_with_the_reason(files, told, essay):
    with pytest.raises(UnreadableSubmission, match=told):
        read_files(essay, files)


def test_a_sheet_takes_no_text(sheet):
    with pytest.raises(UnreadableSubmission, match="asks for no text"):
        read_answers(sheet, {}, "text")


def test_code_is_taken_byte_for_byte_in_the_order_sent(code):
    files = {"b.py": b"\xef\xbb\xbfx = 1\r\n", "a.py": b"\xff"}
    submission = read_files(code, files)
    assert list(submission.files.items()) == list(files.items())
    assert not submission.is_empty


def test_a_sheet_is_taken_as_its_fields(sheet):
    submission = read_files(sheet, {"a.json": b'\xef\xbb\xbf{"unchanged_row": "2"}'})
    assert submission.answers == {"unchanged_row": "2"}
    assert submission.files == {}
    assert read_answers(sheet, {"unchanged_row": 2}).answers == {"unchanged_row": 2}


def test_a_file_of_a_sheet_may_be_wrapped_as_its_body_is(sheet):
    assert read_files(sheet, {"a.json": b'{"answers": {"unchanged_row": 2}}'}).answers == {
        "unchanged_row": 2
    }
    for data in (b'{"answers": 2}', b'{"answers": {"unchanged_row": 2}, "A": 1}'):
        with pytest.raises(UnreadableSubmission, match="unknown field 'answers'"):
            read_files(sheet, {"a.json": data})


@pytest.mark.parametrize("data", [b"", b" \n\t"])
def test_an_empty_file_is_taken_and_is_empty(data, code, sheet):
    assert read_files(code, {"a.py": data}).is_empty
    assert read_files(sheet, {"a.json": data}).is_empty
    assert not read_files(code, {"a.py": data, "b.py": b"x = 1"}).is_empty


@pytest.mark.parametrize(
    "name",
    ["a.py", "numpy.py", "torch.py", "app.py", "__init__.py", "a b.py", "中文.py", "é.py", "a..py",
     "x.y.py", "-.py", "$(id).py", "a'b\".py", "n" * 197 + ".py", "model/layers.py",
     "Bildschirm\u202ffoto.py", "a/" * 8 + "b.py"],
)  # fmt: skip
def test_a_plain_name_is_taken_whatever_it_says(name, code):
    assert list(read_files(code, {name: b"x = 1"}).files) == [name]


@pytest.mark.parametrize(
    "name",
    ["../a.py", "/etc/a.py", "a/../b.py", "a/./b.py", "a//b.py", "a/", "C:/a.py", "C:a.py",
     "a/.b/c.py", "a/ /b.py", "a/" * 9 + "b.py", ("n" * 150 + "/") * 3 + "b.py", "a\\b.py",
     "..", ". .", ".", "", " ", "\0.py", "a\0.py", "a\n.py",
     "a\x1b[2J.py", "\u202eyp.a", "\u200b.py", "\udcff.py", ".py", ".hidden.py", "...py",
     "n" * 256 + ".py", "中" * 90 + ".py"],
)  # fmt: skip
def test_a_name_that_leads_elsewhere_or_cannot_be_shown_is_refused(name, code):
    with pytest.raises(
        UnreadableSubmission, match=r"a file is called .*; expected a plain"
    ) as told:
        read_files(code, {name: b"x = 1"})
    assert str(told.value).isprintable()
    assert len(str(told.value)) < 200


def test_every_name_that_is_taken_can_be_run(code, sandbox):
    from app.sandbox.job import Call, Job

    deep = "/".join(["n" * 40] * 9) + ".py"
    names = ["中" * 60 + ".py", "a b.py", "n" * 197 + ".py", "$(id).py", deep, "a\u00a0/b.c.py"]
    files = dict.fromkeys(names, b"def f(): return 7")
    answers = sandbox.run(
        Job(
            files=read_files(code, files).files,
            calls=tuple(Call("f", (), file=name) for name in names),
            seed=1,
        )
    )
    assert [answer.failure for answer in answers] == [None] * len(names)


def test_limits_hold_for_all_files_together(code):
    with pytest.raises(SubmissionTooLarge, match="has 11 bytes; at most 10 are taken"):
        read_files(code, {"a.py": b"x" * 5, "b.py": b"x" * 6}, limit=10)
    assert read_files(code, {"a.py": b"x" * 5, "b.py": b"x" * 5}, limit=10)
    with pytest.raises(SubmissionTooLarge, match="5242881 bytes; at most 5242880"):
        read_files(code, {"a.py": bytes(5 * 1024 * 1024 + 1)})
    with pytest.raises(SubmissionTooLarge, match="51 files were sent; at most 50 are taken"):
        read_files(code, {f"{n}.py": b"x" for n in range(51)})


@pytest.mark.parametrize("name", ["a.txt", "a", "a.pyc", "py", "a.PYC", "a.json"])
def test_code_comes_in_python_files_or_notebooks(name, code):
    with pytest.raises(UnreadableSubmission, match=r"takes \.py files and .*; '.*' is neither"):
        read_files(code, {name: b"x = 1"})


def test_endings_may_be_in_capitals_and_code_is_kept_where_imports_find_it(code, sheet, essay):
    files = {"model/B.a.PY": b"x = 1", "C.IPYNB": b""}
    assert set(read_files(code, files).files) == {"model/B.a.py", "C.ipynb"}
    assert read_files(sheet, {"A.JSON": b"{}"}).answers == {}
    assert read_files(essay, {"A.TXT": b"Because."}).text == "Because."
    with pytest.raises(SubmissionTooLarge, match="smaller without its outputs"):
        read_files(code, {"C.IPYNB": b"  "}, limit=1)
    with pytest.raises(UnreadableSubmission, match=r"C\.ipynb is not JSON"):
        read_files(code, {"C.IPYNB": b"x"})
    with pytest.raises(UnreadableSubmission, match="two files have one name"):
        read_files(code, {"a.PY": b"", "a.py": b""})


def test_a_sheet_comes_in_one_json_file(code, sheet):
    with pytest.raises(UnreadableSubmission, match=r"takes one \.json file; 2 were sent"):
        read_files(sheet, {"a.json": b"{}", "b.json": b"{}"})
    with pytest.raises(UnreadableSubmission, match=r"takes a \.json file of answers; 'a\.py'"):
        read_files(sheet, {"a.py": b"{}"})
    with pytest.raises(UnreadableSubmission, match="unknown field 'B'"):
        read_files(sheet, {"a.json": b'{"B": 1}'})
    with pytest.raises(UnreadableSubmission, match="asks for code"):
        read_answers(code, {"A": 1})
