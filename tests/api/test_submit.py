"""Sending a submission over HTTP."""

import asyncio
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi import FastAPI
from sqlalchemy import func, select

from app.db import Sessions, snapshot, transaction
from app.models import Course, Submission
from app.settings import Settings
from tests.api.conftest import Send
from tests.conftest import Ask, Members

CODE = "/api/v1/problems/s33-masked-attention/submissions"
ANSWERS = "/api/v1/problems/s34-a1-masked/submissions"
BOUND = "multipart/form-data; boundary=b"
EXACT = {
    "A": [[1, 0], [0.804429682506957, 0.195570317493043]],
    "Z": [[2, -1], [1.804429682506957, -0.804429682506957]],
    "unchanged_row": 2,
}


def stored(database: Sessions) -> int:
    with snapshot(database) as session:
        return session.scalar(select(func.count()).select_from(Submission)) or 0


def test_a_submission_is_stored_before_it_is_acknowledged(
    ask: Ask, send: Send, database: Sessions
) -> None:
    answer = send(ask("student"))
    assert answer.status_code == 202
    body = answer.json()
    assert body.keys() == {"id", "problem", "status", "attempt", "sha256", "received_at"}
    assert (body["problem"], body["status"], body["attempt"]) == (
        "s33-masked-attention",
        "queued",
        1,
    )
    assert answer.headers["Location"] == f"/api/v1/submissions/{body['id']}"
    assert stored(database) == 1


def test_what_is_sent_while_no_worker_runs_is_graded_later(
    ask: Ask, send: Send, request: pytest.FixtureRequest
) -> None:
    student = ask("student")
    location = send(student).headers["Location"]
    before = student.get(location).json()
    assert (before["status"], before["score"], before["checks"]) == ("queued", None, [])
    request.getfixturevalue("worker")
    with student.stream("GET", location + "/events") as events:
        events.read()
    assert student.get(location).json()["score"] == 10.0


@pytest.mark.usefixtures("worker")
def test_whoever_waits_gets_the_report(ask: Ask, send: Send, wrong: bytes) -> None:
    answer = send(ask("student"), code=wrong, wait=60)
    assert answer.status_code == 200
    report = answer.json()
    assert (report["status"], report["score"], report["seed"]) == ("graded", 1.0, None)
    assert [found["id"] for found in report["misconceptions"]] == ["mask_after_softmax"]
    assert [c["message"] for c in report["checks"] if c["hidden"]] == ["", "", ""]


def test_whoever_waits_too_short_gets_the_acceptance(ask: Ask, send: Send) -> None:
    answer = send(ask("student"), wait=0.05)
    assert (answer.status_code, answer.json()["status"]) == (202, "queued")


def test_forty_waiting_requests_leave_room_for_others(
    ask: Ask, database: Sessions, members: Members
) -> None:
    with transaction(database) as session:
        session.get_one(Course, members.course.id).supersede = "never"
    changes = ask(None).app.state.changes

    def wait(who: str) -> int:
        body, wait = {"answers": EXACT}, {"wait": 60}
        return ask(who).post(ANSWERS, json=body, params=wait).status_code

    with ThreadPoolExecutor(43) as pool:
        waiting = [pool.submit(wait, ("student", "classmate")[n % 2]) for n in range(43)]
        while changes.waiting < 43:
            time.sleep(0.01)
        assert ask("student").get("/api/v1/problems").status_code == 200
        assert not any(each.done() for each in waiting)
        changes.release()
    assert [each.result() for each in waiting] == [202] * 43


@pytest.mark.usefixtures("worker")
def test_a_report_as_text_has_80_columns_and_speaks_the_readers_language(
    ask: Ask, send: Send, wrong: bytes
) -> None:
    headers = {"Accept": "text/plain", "Accept-Language": "zh-CN,zh;q=0.9"}
    answer = send(ask("student"), code=wrong, wait=60, headers=headers)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    lines = answer.text.splitlines()
    assert lines[0] == "s33-masked-attention 1/10 graded"
    assert max(map(len, lines)) <= 80
    assert "数值错误" in answer.text


def test_answers_come_as_json_and_are_read_at_once(ask: Ask, database: Sessions) -> None:
    student = ask("student")
    refused = student.post(ANSWERS, json={"answers": {**EXACT, "unchanged_rows": 2}})
    assert refused.status_code == 422
    assert "unchanged_rows" in refused.json()["detail"]
    zh = {"Accept-Language": "zh"}
    refused = student.post(ANSWERS, json={"answers": {"unchanged_row": "4,800"}}, headers=zh)
    assert refused.json()["detail"] == "字段 unchanged_row：'4,800' 不是一个整数：请去掉逗号"
    assert stored(database) == 0
    assert student.post(ANSWERS, json={"answers": EXACT}).json()["attempt"] == 1


@pytest.mark.usefixtures("worker")
def test_answers_may_come_as_a_file(ask: Ask) -> None:
    sent = {"file": ("my answers.json", json.dumps(EXACT))}
    answer = ask("student").post(ANSWERS, files=sent, params={"wait": 60})
    assert answer.json()["score"] == 10.0


def test_json_that_is_no_submission_is_refused_with_a_sentence(ask: Ask) -> None:
    student = ask("student")
    for body, word in (
        ({}, "empty"),
        ({"answers": [1]}, "object"),
        ({"answer": {}}, "'answer'"),
        ({"answers": {}, "text": "It attends."}, "text"),
        ([], "object"),
    ):
        answer = student.post(ANSWERS, json=body)
        assert (answer.status_code, word in answer.json()["detail"]) == (422, True), body


def test_a_broken_json_body_is_refused(ask: Ask) -> None:
    headers = {"Content-Type": "application/json"}
    student = ask("student")
    for body in (b"", b"{", b"\xff\xfe", b'{"text": NaN', b'{"a": 1, "a": 2}'):
        answer = student.post(ANSWERS, content=body, headers=headers)
        assert answer.status_code == 422, body


def test_a_broken_multipart_body_is_refused(ask: Ask) -> None:
    student = ask("student")
    for kind, body in (
        ("multipart/form-data", b"x"),
        (BOUND, b"no boundary here"),
        (BOUND, b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--"),
        (BOUND, b"--b--\r\n"),
    ):
        answer = student.post(CODE, content=body, headers={"Content-Type": kind})
        assert answer.status_code == 422, body
        assert answer.headers["content-type"] == "application/problem+json"


def test_a_body_of_another_kind_is_refused(ask: Ask) -> None:
    student = ask("student")
    for kind in ("text/csv", "application/x-www-form-urlencoded", ""):
        answer = student.post(CODE, content=b"x=1", headers={"Content-Type": kind})
        assert answer.status_code == 415
        assert "expected multipart/form-data or application/json" in answer.json()["detail"]


def test_another_field_than_file_is_refused(ask: Ask, right: bytes) -> None:
    answer = ask("student").post(CODE, files={"upload": ("a.py", right)})
    assert (answer.status_code, "'upload'" in answer.json()["detail"]) == (422, True)


def test_a_text_in_the_field_of_files_is_refused_with_what_to_type(ask: Ask) -> None:
    kind = {"Content-Type": BOUND}
    body = b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nx\r\n--b--\r\n'
    answer = ask("student").post(CODE, content=body, headers=kind)
    assert answer.status_code == 422
    assert "curl -F file=@attention.py" in answer.json()["detail"]


def test_two_files_of_one_name_are_refused(ask: Ask, send: Send) -> None:
    answer = send(ask("student"), "a.py", "a.py")
    assert (answer.status_code, "two files" in answer.json()["detail"]) == (422, True)


def test_51_files_are_too_many(ask: Ask, send: Send) -> None:
    assert send(ask("student"), *(f"f{n}.py" for n in range(50))).status_code == 202
    answer = send(ask("student"), *(f"f{n}.py" for n in range(51)))
    assert (answer.status_code, "at most 50" in answer.json()["detail"]) == (413, True)


def test_1001_files_are_too_many_for_the_parser_as_well(ask: Ask, send: Send) -> None:
    answer = send(ask("student"), *(f"f{n}.py" for n in range(1001)), code=b"")
    assert answer.status_code == 413


def announce(app: FastAPI, size: int) -> int:
    """The status of a request that announces ``size`` bytes and fails if one is asked for."""
    sent: list[dict[str, object]] = []
    headers = [(b"host", b"testserver"), (b"content-length", str(size).encode())]
    scope = {
        "type": "http",
        "method": "POST",
        "path": CODE,
        "query_string": b"",
        "headers": headers,
    }

    async def receive() -> dict[str, object]:
        raise AssertionError("the body was read")

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent[0]["status"]


def test_an_announced_body_over_the_limit_is_refused_before_a_byte_is_read(
    ask: Ask, settings: Settings
) -> None:
    assert announce(ask(None).app, settings.upload_limit + 100_000) == 413


def test_an_unannounced_body_is_refused_where_it_passes_the_limit(
    ask: Ask, settings: Settings
) -> None:
    taken = []

    def endless() -> Iterator[bytes]:
        yield b"--b\r\nContent-Disposition: form-data; name=file; filename=a.py\r\n\r\n"
        for n in range(1000):
            taken.append(n)
            yield bytes(100_000)

    kind = {"Content-Type": BOUND}
    answer = ask("student").post(CODE, content=endless(), headers=kind)
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"


def test_files_of_just_the_limit_are_taken_and_one_byte_more_is_not(
    ask: Ask, send: Send, settings: Settings
) -> None:
    exact = b"#" * settings.upload_limit
    assert send(ask("student"), code=exact).status_code == 202
    answer = send(ask("student"), code=exact + b"#")
    assert answer.status_code == 413
    assert str(settings.upload_limit) in answer.json()["detail"]


def test_a_request_sent_again_under_its_key_is_stored_once(
    ask: Ask, send: Send, database: Sessions
) -> None:
    key = {"Idempotency-Key": "lecture 2, first try"}
    student = ask("student")
    first, again = send(student, headers=key), send(student, headers=key)
    assert first.json() == again.json()
    assert (first.status_code, again.status_code) == (202, 202)
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Idempotency-Replayed"] == "true"
    assert stored(database) == 1


def test_a_key_cannot_stand_for_another_request(ask: Ask, send: Send, wrong: bytes) -> None:
    key = {"Idempotency-Key": "k"}
    student = ask("student")
    send(student, headers=key)
    for other in ({"code": wrong}, {"names": "other.py"}):
        name = other.pop("names", "attention.py")
        assert send(student, name, headers=key, **other).status_code == 422
    assert student.post(ANSWERS, json={"answers": EXACT}, headers=key).status_code == 422
    assert send(ask("classmate"), headers=key).status_code == 202


def test_an_unknown_problem_is_not_found_whatever_its_id_looks_like(ask: Ask, send: Send) -> None:
    student = ask("student")
    for unknown in ("s99", "%20", "..%2F..%2Fetc", "%00", "a" * 3000, "<script>"):
        answer = student.post(f"/api/v1/problems/{unknown}/submissions", json={"answers": {}})
        assert answer.status_code == 404, unknown
        assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.usefixtures("worker")
def test_script_text_in_code_and_names_comes_back_as_text(ask: Ask, send: Send) -> None:
    code = "raise ValueError('<script>alert(1)</script>\\x1b[2J')"
    answer = send(ask("student"), "<img src=x>.py", code=code, wait=60)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "<script>alert(1)</script>" in answer.json()["checks"][0]["message"]
    text = send(ask("student"), code=code, wait=60, headers={"Accept": "text/plain"})
    assert text.headers["content-type"] == "text/plain; charset=utf-8"
    assert "\x1b" not in text.text


def test_a_file_name_with_folders_or_unprintable_characters_is_refused(
    ask: Ask, send: Send, database: Sessions
) -> None:
    student = ask("student")
    for name in (
        "../../evil.py",
        "/etc/evil.py",
        "a\\b.py",
        "a\u202eb.py",
        ".py" * 100,
        ". .",
        " ",
    ):
        answer = send(student, name)
        assert answer.status_code == 422, name
        assert "plain name" in answer.json()["detail"]
    assert stored(database) == 0
    assert send(student, "注意力 (2).py").status_code == 202
