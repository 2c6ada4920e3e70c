"""Looking at submissions over HTTP: one's own, all as staff, live, and with other points."""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest
from httpx2 import Response
from sqlalchemy import select
from starlette.testclient import TestClient

from app import audit, runs
from app.db import Sessions, snapshot, transaction
from app.domain.run import RunResult
from app.models import Run
from tests.api.conftest import Send
from tests.conftest import Ask, Members

T = TypeVar("T")

LIST = "/api/v1/submissions"


def publish(database: Sessions, submission: str, status: str = "graded") -> None:
    """Ends the submission's run as a worker does."""
    with transaction(database) as session:
        run = session.scalars(select(Run).where(Run.submission_id == submission)).one()
        begun = runs.begin(session, run.id, run.ticket)
        assert begun
        result = RunResult(status=status, score=3.0, checks=(), seed=7, sandbox_level="full")
        runs.publish(session, run.id, begun.fence, result)


def test_a_student_sees_their_own_submission_and_staff_see_all(ask: Ask, send: Send) -> None:
    location = send(ask("student")).headers["Location"]
    seen = {n: ask(n).get(location).status_code for n in ("student", "classmate", "ta", "admin")}
    assert seen == {"student": 200, "classmate": 404, "ta": 200, "admin": 200}


def test_what_is_not_yours_is_told_like_what_does_not_exist(ask: Ask, send: Send) -> None:
    location = send(ask("student")).headers["Location"]
    classmate = ask("classmate")
    for path in (location, f"{location}/events"):
        known = classmate.get(path)
        unknown = classmate.get(path.replace("submissions/0", "submissions/1"))
        assert (known.status_code, unknown.status_code) == (404, 404)
        assert known.json()["title"] == unknown.json()["title"] == "Not Found"


def test_a_malformed_id_is_an_unknown_one(ask: Ask) -> None:
    student = ask("student")
    for id in ("0", "%20", "%00", "..%2f", "<b>", "a" * 5000, "☃"):
        answer = student.get(f"{LIST}/{id}")
        assert answer.status_code == 404, id
        assert answer.headers["content-type"] == "application/problem+json"


def test_staff_see_the_seed_and_students_do_not(ask: Ask, send: Send, database: Sessions) -> None:
    location = send(ask("student")).headers["Location"]
    publish(database, location.rsplit("/", 1)[1])
    assert ask("student").get(location).json()["seed"] is None
    assert isinstance(ask("ta").get(location).json()["seed"], int)


def test_the_list_holds_ones_own_and_for_staff_everybodys(ask: Ask, send: Send) -> None:
    student, ta = ask("student"), ask("ta")
    own = {send(student).json()["id"] for _ in range(3)}
    send(ask("classmate"))
    assert {item["id"] for item in student.get(LIST).json()["items"]} == own
    assert len(ta.get(LIST).json()["items"]) == 4
    assert ask("classmate").get(LIST, params={"student": "student@example.org"}).json() == {
        "items": [],
        "next": None,
    }


def test_the_list_can_be_narrowed(
    ask: Ask, send: Send, database: Sessions, members: Members
) -> None:
    first = send(ask("student")).json()["id"]
    publish(database, first)
    send(ask("classmate"))

    def found(**query: str) -> list[str]:
        return [
            item["student"]["name"] for item in ask("ta").get(LIST, params=query).json()["items"]
        ]

    assert found(status="graded") == ["Student"]
    assert found(status="queued") == ["Classmate"]
    assert found(student=members.classmate.id) == ["Classmate"]
    assert found(problem="s33-masked-attention") == ["Classmate", "Student"]
    assert found(problem="s34-a1-masked") == []


def test_pages_of_the_list_follow_each_other_without_gap_or_overlap(ask: Ask, send: Send) -> None:
    student = ask("student")
    sent = [send(student).json()["id"] for _ in range(7)]
    url, pages = f"{LIST}?limit=3", []
    while url:
        answer = student.get(url)
        pages.append([item["id"] for item in answer.json()["items"]])
        assert (answer.json()["next"] is None) == ("next" not in answer.links)
        url = answer.links["next"]["url"] if "next" in answer.links else ""
        send(student)  # what comes meanwhile moves no page
    assert [len(page) for page in pages] == [3, 3, 1]
    assert [id for page in pages for id in page] == sent[::-1]


def test_an_impossible_query_is_refused_without_repeating_it(ask: Ask) -> None:
    student = ask("student")
    for query in ("limit=0", "limit=101", "limit=<b>", "status=<b>"):
        answer = student.get(f"{LIST}?{query}")
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["where"] == f"query.{query.split('=')[0]}"
        assert "<b>" not in answer.text


def events(client: TestClient, path: str, last: str | None = None) -> list[dict[str, str]]:
    """All events until the stream ends."""
    headers = {"Last-Event-ID": last} if last else {}
    with client.stream("GET", path, headers=headers) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["x-accel-buffering"] == "no"
        blocks = answer.read().decode().strip().split("\n\n")
    return [dict(line.split(": ", 1) for line in block.splitlines()) for block in blocks]


def test_events_tell_the_status_until_it_is_final(ask: Ask, send: Send, database: Sessions) -> None:
    student = ask("student")
    location = send(student).headers["Location"]
    id = location.rsplit("/", 1)[1]
    publish(database, id)
    (event,) = events(student, f"{location}/events")
    assert (event["event"], event["id"]) == ("status", "graded")
    assert json.loads(event["data"]) == {"id": id, "status": "graded", "final": True}


def while_one_waits(ask: Ask, wait: Callable[[], T], act: Callable[[], None]) -> T:
    """What ``wait`` returns, with ``act`` done as soon as it waits."""
    changes = ask(None).app.state.changes
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(wait)
        while not changes.waiting and not waiting.done():
            time.sleep(0.01)
        act()
        return waiting.result()


def test_a_reader_who_comes_back_hears_nothing_twice(
    ask: Ask, send: Send, database: Sessions
) -> None:
    student = ask("student")
    location = send(student).headers["Location"]
    heard = while_one_waits(
        ask,
        lambda: events(student, f"{location}/events", last="queued"),
        lambda: publish(database, location.rsplit("/", 1)[1]),
    )
    assert "queued" not in [event["id"] for event in heard]
    assert heard[-1]["id"] == "graded"
    again = student.get(f"{location}/events", headers={"Last-Event-ID": "graded"})
    assert again.status_code == 204


def test_whoever_waits_is_told_by_the_bell_and_not_by_the_clock(
    ask: Ask, send: Send, database: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.http.changes.POLL_S", 1000.0)
    student = ask("student")

    def act() -> None:
        (line,) = student.get(LIST).json()["items"]
        publish(database, line["id"])

    answer = while_one_waits(ask, lambda: send(student, wait=30), act)
    assert (answer.status_code, answer.json()["status"]) == (200, "graded")


def override(client: TestClient, location: str, **changes: object) -> Response:
    """Overrides the check `random` of what the client sees now."""
    sent = {"check": "random", "points": 2.5, "reason": "right idea", **changes}
    headers = {"If-Match": client.get(location).headers.get("ETag", "*")}
    return client.post(f"{location}/override", json=sent, headers=headers)


@pytest.mark.usefixtures("worker")
def test_an_override_changes_the_score_and_is_written_down(
    ask: Ask, send: Send, wrong: bytes, database: Sessions
) -> None:
    location = send(ask("student"), code=wrong, wait=60).headers["Location"]
    answer = override(ask("ta"), location)
    assert (answer.status_code, answer.json()["score"]) == (200, 3.5)
    seen = ask("student").get(location).json()
    assert seen["score"] == 3.5
    assert next(c for c in seen["checks"] if c["id"] == "random")["points"] == 2.5
    with snapshot(database) as session:
        entries = audit.about(session, f"submission:{location.rsplit('/', 1)[1]}")
    assert [entry.action for entry in entries] == ["override"]


@pytest.mark.usefixtures("worker")
def test_an_impossible_override_is_refused(ask: Ask, send: Send) -> None:
    location = send(ask("student"), wait=60).headers["Location"]
    ta = ask("ta")
    for change in (
        {"check": "none"},
        {"points": 99},
        {"points": -1},
        {"points": "many"},
        {"points": "2"},
        {"points": True},
        {"points": None},
        {"reason": " "},
        {"reason": ["r"]},
        {"note": "no such key"},
    ):
        assert override(ta, location, **change).status_code == 422, change
    headers = {"If-Match": "*", "Content-Type": "application/json"}
    for body in (
        b"",
        b"[]",
        b"{",
        b'{"check": "random", "points": NaN, "reason": "r"}',
        b'{"check": "random", "points": 1e999, "reason": "r"}',
        b'{"check": "random", "points": 2, "reason": "\\ud800"}',
        b'{"check": "random", "points": 2, "reason": "\\u0000"}',
    ):
        answer = ta.post(f"{location}/override", content=body, headers=headers)
        assert answer.status_code == 422, body
    headers["Content-Type"] = "text/plain"
    assert ta.post(f"{location}/override", content=b"{}", headers=headers).status_code == 415
    assert ask("student").get(location).json()["score"] == 10.0


@pytest.mark.usefixtures("worker")
def test_nobody_overrides_what_they_have_not_seen(ask: Ask, send: Send) -> None:
    location = send(ask("student"), wait=60).headers["Location"]
    first, second = ask("ta"), ask("instructor")
    seen = second.get(location).headers["ETag"]
    sent = {"check": "random", "points": 1, "reason": "second"}
    assert second.post(f"{location}/override", json=sent).status_code == 428
    assert override(first, location, check="fixed", points=0).status_code == 200
    late = second.post(f"{location}/override", json=sent, headers={"If-Match": seen})
    assert late.status_code == 412
    answer = override(second, location, points=1)
    assert (answer.status_code, answer.json()["score"]) == (200, 6.0)
    assert answer.headers["ETag"] == first.get(location).headers["ETag"] != seen


def test_a_student_may_not_override_and_learns_nothing_by_trying(ask: Ask, send: Send) -> None:
    location = send(ask("student")).headers["Location"]
    answers = [override(ask("student"), path) for path in (location, f"{LIST}/unknown")]
    assert [answer.status_code for answer in answers] == [403, 403]
    assert answers[0].json() == answers[1].json()
    assert override(ask("ta"), f"{LIST}/unknown").status_code == 404
