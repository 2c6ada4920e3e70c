"""Every error has one form, says what was expected, and repeats nothing that was sent."""

import logging

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.http.errors import add_error_handlers
from app.logs import OneLine
from tests.conftest import Ask


def test_errors_of_the_framework_look_like_ours(ask: Ask) -> None:
    ta = ask("ta")
    for method, path, status, word in (
        ("GET", "/nothing/here", 404, "/nothing/here"),
        ("GET", "/api/v1/nothing", 404, "/api/v1/nothing"),
        ("POST", "/healthz", 405, "expected GET"),
        ("DELETE", "/api/v1/submissions/x", 405, "expected GET"),
        ("PUT", "/api/v1/submissions/x/override", 422, "body.check"),
        ("GET", "/api/v1/submissions?limit=%3Cscript%3E", 422, "query.limit"),
    ):
        sent = {"json": {"points": "<script>"}} if method == "PUT" else {}
        answer = ta.request(method, path, **sent)
        assert answer.status_code == status
        assert answer.headers["content-type"] == "application/problem+json"
        body = answer.json()
        assert body.keys() == {"type", "title", "status", "detail", "errors"}
        assert body["status"] == status
        assert word in body["detail"]
        assert "script" not in answer.text


def test_a_broken_json_body_of_a_small_call_is_refused(ask: Ask) -> None:
    kind = {"Content-Type": "application/json"}
    answer = ask("ta").put("/api/v1/submissions/x/override", content=b"{", headers=kind)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")


def test_our_own_failure_is_told_without_its_cause() -> None:
    app = FastAPI()
    add_error_handlers(app)

    @app.get("/crash")
    def crash() -> None:
        raise RuntimeError("the secret is 42")

    answer = TestClient(app, raise_server_exceptions=False).get("/crash")
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "42" not in answer.text
    assert answer.json()["detail"] == "something went wrong on our side"


def test_every_answer_carries_the_strict_headers(ask: Ask) -> None:
    paths = ("/healthz", "/nothing", "/api/v1/problems", "/openapi.json")
    for answer in (ask("student").get(path) for path in paths):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"


def test_a_crash_is_logged_by_its_route_without_address_or_variables(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = FastAPI()
    add_error_handlers(app)

    @app.get("/sign-in/{code}")
    def crash(code: str) -> None:
        raise RuntimeError("no table")

    TestClient(app, raise_server_exceptions=False).get("/sign-in/SECRET%0Aforged: line")
    text = OneLine("%(name)s: %(message)s").format(caplog.records[0])
    assert "app.http.errors: GET /sign-in/{code} crashed" in text
    assert "SECRET" not in text


def test_a_log_line_cannot_begin_another_one() -> None:
    record = logging.LogRecord("app", logging.INFO, "", 0, "a\nforged: line \x1b[31m", (), None)
    assert OneLine("%(message)s").format(record) == "a\\nforged: line \\x1b[31m"
