"""``attest grade`` through the console script: exit codes, one JSON object, one clear sentence."""

import json
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "app/demo"
MASKED = "s33-masked-attention"
SHEET = {"A": [[1, 0], [0.8044, 0.1956]], "Z": [[2, -1], [1.8044, -0.8044]], "unchanged_row": 2}


@pytest.fixture
def sheet(tmp_path):
    """Writes a sheet of answers, the right one with changes or any text."""

    def write(changes=None, text=None):
        path = tmp_path / "answers.json"
        answers = {k: v for k, v in (SHEET | (changes or {})).items() if v is not None}
        path.write_text(json.dumps(answers) if text is None else text)
        return path

    return write


def test_right_work_ends_with_0_and_a_report_that_begins_with_the_score(attest):
    ended = attest("grade", MASKED, DEMO / "right.py")
    assert ended.code == 0
    assert ended.out.splitlines()[0] == "s33-masked-attention 10/10 graded"
    assert ended.err == ""


def test_a_wrong_one_ends_with_1_names_the_mistake_and_is_replayed_by_its_seed(attest, tmp_path):
    results = tmp_path / "results.json"
    file = DEMO / "mask_after_softmax.py"
    first = attest("grade", MASKED, file, "--json", "--gradescope", results)
    assert first.code == 1
    report = first.json
    assert report["id"] is None
    assert (report["score"], report["max_score"]) == (1.0, 10.0)
    assert all(check["message"] for check in report["checks"] if check["outcome"] != "passed")
    assert report["misconceptions"][0]["feedback"].startswith("Zeroing weights after softmax")

    student = json.loads(results.read_text())
    assert student["score"] == 1.0
    hidden = {c["id"]: c["message"] for c in report["checks"] if c["hidden"] and c["message"]}
    outputs = {row["name"]: row["output"] for row in student["tests"]}
    assert hidden
    assert all(message not in outputs[name] for name, message in hidden.items())

    arguments = ("grade", MASKED, file, "--json", "--lang", "zh", "--seed", report["seed"])
    again = attest(*arguments).json
    assert again["misconceptions"][0]["feedback"].startswith("softmax 后才乘 0")
    for one, other in zip(report["checks"], again["checks"], strict=True):
        del one["message"], other["message"]
        assert one == other
    assert again["seed"] == report["seed"]


@pytest.mark.parametrize(
    ("changes", "code", "score", "outcomes"),
    [
        ({}, 0, 10, ["passed", "passed", "passed"]),
        ({"unchanged_row": 1}, 1, 8, ["passed", "passed", "wrong"]),
        ({"A": None}, 1, 2, ["not_defined", "not_defined", "passed"]),
        ({"unchanged_row": float("nan")}, 1, 8, ["passed", "passed", "not_finite"]),
    ],
)
def test_answers_are_graded_without_any_sandbox(changes, code, score, outcomes, attest, sheet):
    ended = attest("grade", "s34-a1-masked", sheet(changes), "--json", isolated=False)
    assert ended.code == code
    assert ended.json["score"] == score
    assert [check["outcome"] for check in ended.json["checks"]] == outcomes
    assert ended.json["sandbox_level"] is None


@pytest.mark.parametrize("name", ["a.py", "a.json"])
def test_an_empty_file_is_a_load_error_of_every_check(name, attest, tmp_path):
    (tmp_path / name).write_bytes(b"\n")
    problem = MASKED if name == "a.py" else "s34-a1-masked"
    ended = attest("grade", problem, tmp_path / name, "--json", isolated=False)
    assert ended.code == 1
    assert {check["outcome"] for check in ended.json["checks"]} == {"load_error"}
    assert ended.json["checks"][0]["message"] == f"{name} is empty"


def assert_refused(ended, status, *words):
    """Exit 2, the problem object alone on stdout, and the same sentence for people."""
    assert ended.code == 2
    told = ended.json
    assert list(told) == ["type", "title", "status", "detail", "errors"]
    assert told["status"] == status
    for word in words:
        assert word in told["detail"]
    assert ended.err == f"attest: {told['detail']}\n"
    assert "Traceback" not in ended.err


def test_a_host_that_cannot_isolate_grades_no_code(attest):
    ended = attest("grade", MASKED, DEMO / "right.py", "--json", isolated=False)
    assert_refused(ended, 503, "isolat")
    assert len(ended.json["detail"].splitlines()) == 1


REFUSED = [
    (
        ["grade", "s33-masked-atention", "a.py"],
        404,
        ["no problem `s33-masked-atention`", f"did you mean `{MASKED}`?"],
    ),
    (["grade", "gone.yaml", "a.py"], 404, ["no such problem file: gone.yaml"]),
    (["grade", MASKED, "gone.py"], 422, ["no such file: gone.py"]),
    (["grade", MASKED, "."], 422, [". is a folder; expected files"]),
    (["grade", MASKED, "/dev/null"], 422, ["/dev/null is a device or a pipe; expected files"]),
    (["grade", MASKED, "a.py", "./sub/../a.py"], 422, ["two files are called 'a.py'"]),
    (["grade", MASKED, "a.py", "sub/A.zip"], 422, ["sub/A.zip is broken, or no zip archive"]),
    (["grade", MASKED, "a.txt"], 422, [f"{MASKED} takes .py files", "'a.txt' is neither"]),
    (["grade", "s34-a1-masked", "a.py"], 422, ["takes a .json file of answers; 'a.py' is none"]),
    (["grade", MASKED, "a.py", "--lang", "fr"], 400, ["--lang", "'fr' is not one of 'en', 'zh'"]),
    (["grade", MASKED, "a.py", "--seed", str(2**63)], 400, ["--seed"]),
    (["grade", MASKED], 400, ["Missing argument 'FILE...'"]),
    (["grad", MASKED], 400, ["No such command 'grad'"]),
]


@pytest.mark.parametrize(("arguments", "status", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_graded_is_one_sentence_and_exit_code_2(
    arguments, status, words, attest, tmp_path
):
    (tmp_path / "sub").mkdir()
    for name in ("a.py", "a.txt", "sub/A.zip"):
        (tmp_path / name).write_text("x = 1\n")
    ended = attest(*arguments, "--json", cwd=tmp_path, ATTEST_PROBLEMS=str(ROOT / "problems"))
    assert_refused(ended, status, *words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"A": [[1, 0]], "B": 1}', ["unknown field 'B'", "the fields are A, Z, unchanged_row"]),
        ('{"A": [[1, 0], [1]]}', ["field A", "ragged"]),
        ('{"A": 1, "A": 2}', ["the key 'A' stands twice"]),
        ("{", ["not JSON at line 1"]),
    ],
)
def test_answers_that_cannot_be_read_are_told_by_field(text, words, attest, sheet):
    ended = attest("grade", "s34-a1-masked", sheet(text=text), "--json", isolated=False)
    assert_refused(ended, 422, *words)


@pytest.mark.parametrize("asked", [("--lang", "zh"), ("--lang=zh",)])
def test_answers_that_cannot_be_read_are_told_in_the_language_of_the_report(asked, attest, sheet):
    text = '{"unchanged_row": "4,800"}'
    ended = attest("grade", "s34-a1-masked", sheet(text=text), "--json", *asked, isolated=False)
    assert_refused(ended, 422, "字段 unchanged_row：'4,800' 不是一个整数：请去掉逗号")


def test_a_file_over_the_limit_is_not_read(attest, tmp_path):
    (tmp_path / "a.py").write_text("#" * 1001)
    ended = attest("grade", MASKED, tmp_path / "a.py", "--json", ATTEST_UPLOAD_LIMIT="1000")
    assert_refused(ended, 413, "the submission has 1001 bytes; at most 1000 are taken")
    huge = tmp_path / "huge.py"
    huge.touch()
    os.truncate(huge, 1 << 40)  # no machine could read that
    assert_refused(attest("grade", MASKED, huge, "--json"), 413, "at most 5242880 are taken")


def test_a_limit_above_the_default_is_taken_too(attest, tmp_path):
    (tmp_path / "a.json").write_text('{"unchanged_row": 2' + " " * 6_000_000 + "}")
    arguments = ("grade", "s34-a1-masked", tmp_path / "a.json", "--json")
    assert_refused(attest(*arguments), 413, "6000020 bytes")
    assert attest(*arguments, ATTEST_UPLOAD_LIMIT="7000000").json["score"] == 2


def test_a_broken_problem_file_is_told_with_every_place(attest, tmp_path):
    source = (ROOT / f"problems/masks/{MASKED}.yaml").read_text()
    path = tmp_path / f"{MASKED}.yaml"
    path.write_text(source.replace("points: 10", "points: 11").replace("kind: zeros", "kind: zero"))
    ended = attest("grade", path, DEMO / "right.py", "--json")
    assert ended.code == 2
    assert ended.json["status"] == 422
    (place,) = ended.json["errors"]
    line = 1 + source[: source.index("kind: zeros")].count("\n")
    assert place["message"] == "kind is 'zero'; did you mean `zeros`?"
    assert (place["where"], place["line"]) == (str(path), line)
    assert ended.json["detail"] == f"{path}:{line}:{place['column']}: {place['message']}"


def test_an_impossible_setting_is_told_by_its_name(attest):
    ended = attest("grade", MASKED, DEMO / "right.py", "--json", ATTEST_UPLOAD_LIMIT="much")
    assert_refused(ended, 500, "ATTEST_UPLOAD_LIMIT is 'much'")


def test_a_plain_locale_and_a_file_name_in_no_encoding_end_nothing(attest, tmp_path):
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    (tmp_path / "a.json").write_text('{"unchanged_row": 1}')
    ended = attest("grade", "s34-a1-masked", tmp_path / "a.json", "--lang", "zh", **plain)
    assert (ended.code, "没有填写 A" in ended.out) == (1, True)
    bad = os.fsdecode(bytes(tmp_path) + b"/\xff\xfe.py")
    Path(bad).write_text("x = 1\n")
    assert_refused_name = attest("grade", MASKED, bad, "--json")
    assert assert_refused_name.code == 2
    assert "a file is called" in assert_refused_name.json["detail"]


def test_a_report_that_cannot_be_written_is_told(attest, sheet, tmp_path):
    target = tmp_path / "no/such/results.json"
    ended = attest("grade", "s34-a1-masked", sheet(), "--json", "--gradescope", target)
    assert_refused(ended, 500, "results.json cannot be written: No such file or directory")
