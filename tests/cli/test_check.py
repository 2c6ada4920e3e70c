"""``attest check``: the proof as a matrix and as JSON, and what turns it red."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MASKED = ROOT / "problems/masks/s33-masked-attention.yaml"


@pytest.fixture(scope="module")
def proven(attest):
    return attest("check", "problems/assignment1", "problems/closed-book", "--json")


def test_proven_problems_end_with_0(proven):
    assert proven.code == 0
    assert proven.err == ""
    assert proven.json["ok"] is True


def test_the_object_has_the_keys_of_the_contract(proven):
    told = proven.json
    assert list(told) == ["ok", "problems", "totals"]
    assert list(told["totals"]) == ["problems", "misconceptions", "samples", "caught", "named"]
    for problem in told["problems"]:
        assert list(problem) == [
            "id", "path", "ok", "errors", "checks", "accepted", "misconceptions", "warnings",
        ]  # fmt: skip
        assert problem["errors"] == []
        assert all(type(ok) is bool for ok in problem["accepted"].values())
        for row in problem["misconceptions"].values():
            assert list(row) == ["caught_by", "caught", "named", "ok"]
            assert row["caught_by"] in row["caught"]
            assert set(row["caught"]) <= set(problem["checks"])
    rows = [row for problem in told["problems"] for row in problem["misconceptions"].values()]
    totals = told["totals"]
    assert totals["problems"] == len(told["problems"])
    assert totals["misconceptions"] == totals["caught"] == totals["named"] == len(rows)
    assert len(rows) >= 29


@pytest.fixture(scope="module")
def broken(attest, tmp_path_factory):
    """A misconception whose code is the solution, a file of an unknown kind, and a good file."""
    folder = tmp_path_factory.mktemp("problems") / "masks"
    folder.mkdir()
    text = MASKED.read_text(encoding="utf-8")
    start = text.index("  - id: no_scale\n")
    body = text.index("          S = ", start)
    right = text.index("      import numpy", text.index("  - id: minus_inf_before_scaling"))
    right_body = text[
        text.index("          scores =", right) : text.index("  - id: scaled_queries")
    ]
    end = text.index("  - id: values_masked_instead")
    (folder / MASKED.name).write_text(text[:body] + right_body + text[end:], encoding="utf-8")
    (folder / "broken.yaml").write_text("id: broken\nkind: coed\n")
    good = ROOT / "problems/assignment1/s34-a1-masked.yaml"
    (folder / good.name).write_bytes(good.read_bytes())
    return attest("check", folder.parent, "--json")


def test_a_misconception_with_the_code_of_the_solution_turns_it_red_by_name(broken):
    assert broken.code == 1
    assert broken.json["ok"] is False
    problems = {problem["id"]: problem for problem in broken.json["problems"]}
    assert [problems[name]["ok"] for name in problems] == [False, False, True]
    masked = problems["s33-masked-attention"]
    rows = masked["misconceptions"]
    assert [name for name, row in rows.items() if not row["ok"]] == ["no_scale"]
    assert rows["no_scale"] == {"caught_by": "fixed", "caught": [], "named": False, "ok": False}
    messages = [error["message"] for error in masked["errors"]]
    assert any("`no_scale` is not caught by the check `fixed`" in message for message in messages)
    line = 1 + MASKED.read_text().split("  - id: no_scale")[0].count("\n")
    assert {error["line"] for error in masked["errors"]} == {line}


def test_a_file_that_cannot_be_read_has_its_places_and_leaves_the_others_alone(broken):
    (told,) = [problem for problem in broken.json["problems"] if problem["id"] == "broken"]
    assert told["errors"] == [
        {"line": 2, "column": 7, "message": "kind is 'coed'; did you mean `code`?"}
    ]
    assert (told["checks"], told["accepted"], told["misconceptions"]) == ([], {}, {})
    totals = broken.json["totals"]
    assert (totals["problems"], totals["misconceptions"], totals["caught"]) == (3, 21, 20)


@pytest.fixture(scope="module")
def printed(attest):
    ended = attest("check", "tests/problem_files/sdpa.yaml", "problems/closed-book")
    assert ended.code == 0
    return ended.out.splitlines()


def test_a_wide_matrix_is_folded_to_100_columns_by_numbering_its_checks(printed):
    assert printed[0] == "tests/problem_files/sdpa.yaml: proven"
    assert max(map(len, printed)) <= 100
    assert any("7 bool_mask, 8 padding_mask" in line for line in printed)
    (row,) = [line for line in printed if line.startswith("  mask_inverted")]
    marks = [*"......", "[X]", "X", "X", "X", ".", "X", *".....", "yes"]
    assert row.split()[1:] == marks
    assert "  large_negative_fill  accepted" in printed
    assert (
        printed[-1]
        == "3 of 3 problems proven; 3 samples of texts; 12 wrong answers, 12 caught, 12 named"
    )


def test_a_check_that_no_wrong_answer_reaches_has_a_warning_at_its_line(printed, attest):
    path = "tests/problem_files/sdpa.yaml"
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    line = 1 + next(n for n, text in enumerate(lines) if "id: repeatable" in text)
    message = "no misconception reaches the check `repeatable`"
    assert any(text.startswith(f"  warning: {path}:{line}:") for text in printed)
    warnings = attest("check", path, "--json").json["problems"][0]["warnings"]
    assert [(w["line"], w["message"]) for w in warnings if message in w["message"]] == [
        (line, message)
    ]


def test_a_narrow_matrix_names_its_checks(printed):
    (head,) = [line for line in printed if line.split() == ["WQ", "Q", "A", "Z", "random", "named"]]
    (row,) = [line for line in printed if line.startswith("  A_feature_axis")]
    assert row.index("[X]") + 1 == head.index(" A ") + 1
    assert "  heads_before_transpose accepted" in printed


def test_where_nothing_is_known_to_be_wrong_there_is_no_matrix(attest):
    path = "problems/attention/s32-scaling-text.yaml"
    assert attest("check", path).out.splitlines()[:2] == [f"{path}: proven", ""]


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("gone", 404, "no such problem file: gone"),
        (".", 404, "no problem files in .; expected ASSIGNMENT/ID.yaml"),
    ],
)
def test_a_path_without_problems_is_refused(path, status, words, attest, tmp_path):
    ended = attest("check", path, "--json", cwd=tmp_path)
    assert (ended.code, ended.json["status"]) == (2, status)
    assert words in ended.json["detail"]


def test_without_a_sandbox_nothing_is_proven_or_refuted(attest):
    ended = attest("check", "problems/closed-book", "--json", isolated=False)
    assert (ended.code, ended.json["status"]) == (2, 503)


def test_the_schema_is_printed_as_json(attest):
    schema = attest("schema")
    assert schema.code == 0
    assert "Accepted" in json.loads(schema.out)["$defs"]


def test_doctor_tells_the_level_and_ends_by_it(attest):
    good = attest("doctor", "--json")
    assert (good.code, good.json["level"]) in {(0, "full"), (1, "landlock")}
    bad = attest("doctor", "--json", isolated=False)
    assert (bad.code, bad.json["level"]) == (2, None)
    assert "none: nothing can be graded here" in attest("doctor", isolated=False).out
