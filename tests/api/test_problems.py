"""Problems over HTTP: what a student may know, and how staff publish."""

import json

import pytest

from app import problems
from app.catalogue.problem_file import ProblemVersion
from app.db import Sessions, transaction
from tests.conftest import Ask

CODE, SHEET = "s33-masked-attention", "s34-a1-masked"
URL = f"/api/v1/problems/{CODE}"
YAML = {"Content-Type": "application/yaml"}


def test_problems_stand_in_their_assignments(ask: Ask) -> None:
    student = ask("student")
    found = student.get("/api/v1/assignments").json()["items"]
    assert {a["id"]: [p["id"] for p in a["problems"]] for a in found} == {
        "masks": [CODE],
        "assignment1": [SHEET],
    }
    assert {p["id"] for p in student.get("/api/v1/problems").json()["items"]} == {CODE, SHEET}


def test_a_problem_is_told_in_the_readers_language(ask: Ask) -> None:
    student = ask("student")
    english = student.get(URL).json()
    chinese = student.get(URL, headers={"Accept-Language": "zh"}).json()
    assert (english["title"], chinese["title"]) == ("Attention with a mask", "带 mask 的注意力")
    assert "hidden key" in english["statement"]
    assert english["entry"] == "masked_attention"
    assert [p["name"] for p in english["parameters"]] == ["Q", "K", "V", "visible"]
    assert english["parameters"][3]["true_means"] == "visible"
    assert "def masked_attention" in english["starter"]
    assert english["limits"]["upload_bytes"] == 5 * 1024 * 1024


def test_fields_are_told_with_what_they_take(ask: Ask) -> None:
    fields = ask("student").get(f"/api/v1/problems/{SHEET}").json()["fields"]
    assert [(f["name"], f["type"], f["shape"]) for f in fields] == [
        ("A", "matrix", [2, 2]),
        ("Z", "matrix", [2, 2]),
        ("unchanged_row", "integer", None),
    ]


@pytest.mark.parametrize("name", [CODE, SHEET])
def test_solutions_known_wrong_answers_and_cases_are_told_to_nobody(
    ask: Ask, shipped: dict[str, ProblemVersion], name: str
) -> None:
    content = shipped[name].problem
    secrets = ["reference.", "0.804", "dominant_hidden_score", *(a.id for a in content.accepted)]
    secrets += [word for m in content.misconceptions for word in (m.id, m.feedback.en)]
    for who in ("student", "instructor"):
        told = json.dumps(ask(who).get(f"/api/v1/problems/{name}").json())
        assert [secret for secret in secrets if secret in told] == []


def test_whoever_is_in_no_course_is_told_of_no_problem(ask: Ask) -> None:
    outsider = ask("outsider")
    for path in ("/problems", "/assignments", f"/problems/{CODE}", "/problems/unknown"):
        assert outsider.get(f"/api/v1{path}").status_code == 403


def changed(version: ProblemVersion, old: str, new: str) -> bytes:
    """The file with one thing in it changed."""
    text = version.yaml.decode()
    assert old in text
    return text.replace(old, new, 1).encode()


@pytest.mark.usefixtures("worker")
def test_a_new_problem_is_proven_and_then_served(
    ask: Ask, shipped: dict[str, ProblemVersion]
) -> None:
    yaml = changed(shipped[SHEET], f"id: {SHEET}", "id: my-sheet")
    answer = ask("ta").put("/api/v1/problems/my-sheet", content=yaml, headers=YAML)
    assert (answer.status_code, answer.json()["assignment"]) == (201, "uploaded")
    assert ask("student").get("/api/v1/problems/my-sheet").status_code == 200
    again = ask("ta").put("/api/v1/problems/my-sheet", content=yaml, headers=YAML)
    assert again.status_code == 200


@pytest.mark.usefixtures("worker")
def test_a_changed_problem_replaces_the_one_before(
    ask: Ask, shipped: dict[str, ProblemVersion]
) -> None:
    before = ask("student").get(f"/api/v1/problems/{SHEET}").json()
    yaml = changed(shipped[SHEET], "Four decimals are enough", "Four decimals will do")
    answer = ask("instructor").put(f"/api/v1/problems/{SHEET}", content=yaml, headers=YAML)
    assert answer.status_code == 200
    after = ask("student").get(f"/api/v1/problems/{SHEET}").json()
    assert "will do" in after["statement"]
    assert (after["assignment"], after["version"] == before["version"]) == ("assignment1", False)


@pytest.mark.usefixtures("worker")
def test_a_wrong_answer_that_survives_is_named_and_nothing_changes(
    ask: Ask, shipped: dict[str, ProblemVersion]
) -> None:
    before = ask("student").get(f"/api/v1/problems/{SHEET}").json()
    yaml = changed(
        shipped[SHEET],
        "id: post_softmax\n    caught_by: row1",
        "id: post_softmax\n    caught_by: which",
    )
    answer = ask("ta").put(f"/api/v1/problems/{SHEET}", content=yaml, headers=YAML)
    assert (answer.status_code, answer.json()["title"]) == (422, "Unprocessable Entity")
    (error,) = answer.json()["errors"]
    line = yaml.decode().splitlines()[error["line"] - 1]
    assert "post_softmax" in line + error["message"]
    assert ask("student").get(f"/api/v1/problems/{SHEET}").json() == before


def test_a_broken_file_is_refused_with_line_and_column(
    ask: Ask, shipped: dict[str, ProblemVersion]
) -> None:
    yaml = changed(shipped[SHEET], "points: 10\n", "point: 10\n")
    answer = ask("ta").put(f"/api/v1/problems/{SHEET}", content=yaml, headers=YAML)
    assert answer.status_code == 422
    (error,) = [e for e in answer.json()["errors"] if "unknown key `point`" in e["message"]]
    assert yaml.decode().splitlines()[error["line"] - 1].startswith("point", error["column"] - 1)
    assert "did you mean `points`" in error["message"]


def test_a_problem_needs_an_id_that_can_be_a_file_name(ask: Ask) -> None:
    ta = ask("ta")
    for id in ("a b", "%00", "a" * 300, "<b>", "%2e%2e"):
        answer = ta.put(f"/api/v1/problems/{id}", content=b"id: x", headers=YAML)
        assert answer.status_code in {404, 405}, id


def test_a_file_for_another_id_is_refused(ask: Ask, shipped: dict[str, ProblemVersion]) -> None:
    yaml = shipped[SHEET].yaml
    answer = ask("ta").put("/api/v1/problems/other", content=yaml, headers=YAML)
    assert (answer.status_code, answer.json()["errors"][0]["line"]) == (422, 2)


def test_only_yaml_is_published_and_only_by_staff(
    ask: Ask, shipped: dict[str, ProblemVersion]
) -> None:
    yaml = shipped[SHEET].yaml
    for who in ("student", "outsider"):
        for name in (SHEET, "unknown"):
            answer = ask(who).put(f"/api/v1/problems/{name}", content=yaml, headers=YAML)
            assert answer.status_code == 403
    wrong = ask("ta").put(
        f"/api/v1/problems/{SHEET}", content=b"{}", headers={"Content-Type": "application/json"}
    )
    assert wrong.status_code == 415


def test_what_is_not_proven_in_time_can_be_sent_again(
    ask: Ask,
    shipped: dict[str, ProblemVersion],
    database: Sessions,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.api.problems.PROOF_S", 0.05)
    yaml = changed(shipped[SHEET], f"id: {SHEET}", "id: my-sheet")
    ta = ask("ta")
    answer = ta.put("/api/v1/problems/my-sheet", content=yaml, headers=YAML)
    assert (answer.status_code, answer.json()["state"]) == (202, "proving")
    assert ta.get("/api/v1/problems/my-sheet").status_code == 404
    with transaction(database) as session:
        (version,) = problems.unproven(session)
        problems.publish(session, version.id, {})
    assert ta.put("/api/v1/problems/my-sheet", content=yaml, headers=YAML).status_code == 200
