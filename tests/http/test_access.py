"""Who may ask what: tokens, cookies, roles, and where a write may come from."""

from datetime import timedelta

import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.routing import Mount

from app import people
from app.db import Sessions, transaction
from app.http.access import COOKIE, declared
from app.models.base import now
from tests.conftest import Ask, Members

PROBLEMS = "/api/v1/problems"
OVERRIDE = "/api/v1/submissions/x/override"
SENT = {"check": "fixed", "points": 1, "reason": "r"}


def declarations(dependant: Dependant) -> set[str]:
    found = {declared(dependant.call)} - {None}
    return found.union(*map(declarations, dependant.dependencies))


def test_every_route_declares_who_may_ask(ask: Ask) -> None:
    seen = 0
    for route in iter_route_contexts(ask(None).app.routes):
        original = route.original_route
        if isinstance(original, Mount):  # files of a library, for everybody
            assert original.path.startswith(("/static", "/docs/assets"))
        elif isinstance(original, APIRoute):
            seen += 1
            found = declarations(route.dependant)
            assert found == {"public"} or (found and "public" not in found), route.path
        else:
            assert route.path == "/openapi.json", route.path
    assert seen >= 12


def test_without_a_token_nothing_is_told(ask: Ask) -> None:
    for path in (PROBLEMS, f"{PROBLEMS}/s33-masked-attention", f"{PROBLEMS}/unknown"):
        answer = ask(None).get(path)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.headers["content-type"] == "application/problem+json"


def test_what_is_no_token_is_refused(ask: Ask) -> None:
    nobody, made_up = ask(None), "Bearer att_" + "x" * 43
    for header in ("", "Bearer", "Bearer ", made_up, "Basic YTpi", "Bearer \xff", "x" * 9000):
        headers = {"Authorization": header.encode("latin-1")}
        assert nobody.get(PROBLEMS, headers=headers).status_code == 401, header


def token(database: Sessions, members: Members, **more: object) -> dict[str, str]:
    with transaction(database) as session:
        text = people.issue_token(session, members.student, **more)
    return {"Authorization": f"Bearer {text}"}


def test_an_expired_or_revoked_token_is_refused(
    ask: Ask, database: Sessions, members: Members
) -> None:
    nobody = ask(None)
    late = token(database, members, expires=now() - timedelta(seconds=1))
    good = token(database, members, label="lost", expires=now() + timedelta(hours=1))
    assert nobody.get(PROBLEMS, headers=late).status_code == 401
    assert nobody.get(PROBLEMS, headers=good).status_code == 200
    with transaction(database) as session:
        people.revoke_tokens(session, members.student, "lost")
    assert nobody.get(PROBLEMS, headers=good).status_code == 401


def test_a_token_for_reading_cannot_write(ask: Ask, database: Sessions, members: Members) -> None:
    reading = token(database, members, scope="read")
    assert ask(None).get(PROBLEMS, headers=reading).status_code == 200
    answer = ask(None).post(f"{PROBLEMS}/s34-a1-masked/submissions", json={}, headers=reading)
    assert answer.status_code == 403


def test_each_role_may_do_what_the_lower_ones_may(ask: Ask) -> None:
    roles = ("outsider", "student", "ta", "instructor", "admin")
    assert [ask(r).get(PROBLEMS).status_code for r in roles] == [403, 200, 200, 200, 200]
    staff = [ask(r).put(OVERRIDE, json=SENT).status_code for r in roles]
    assert staff == [403, 403, 404, 404, 404]


@pytest.fixture
def cookie(database: Sessions, members: Members) -> str:
    """The session cookie of the teaching assistant."""
    with transaction(database) as session:
        return f"{COOKIE}={people.sign_in(session, members.ta).secret}"


def test_a_browser_session_reads_without_a_token(ask: Ask, cookie: str) -> None:
    assert ask(None).get(PROBLEMS, headers={"Cookie": cookie}).status_code == 200
    assert ask(None).get(PROBLEMS, headers={"Cookie": f"{COOKIE}=x"}).status_code == 401


def test_a_write_with_a_cookie_must_come_from_our_own_pages(ask: Ask, cookie: str) -> None:
    nobody = ask(None)
    for origin, status in (
        ({"Origin": "http://testserver"}, 404),
        ({"Sec-Fetch-Site": "same-origin"}, 404),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Origin": "http://testserver"}, 403),
        ({}, 403),
    ):
        answer = nobody.put(OVERRIDE, json=SENT, headers={"Cookie": cookie, **origin})
        assert answer.status_code == status, origin
        assert ("another site" in answer.json()["detail"]) == (status == 403)


def test_a_write_with_a_token_may_come_from_anywhere(ask: Ask) -> None:
    assert ask("ta").put(OVERRIDE, json=SENT).status_code == 404


def test_a_wrong_token_is_not_saved_by_a_cookie(ask: Ask, cookie: str) -> None:
    headers = {"Cookie": cookie, "Authorization": "Basic x", "Origin": "http://evil.example"}
    assert ask(None).put(OVERRIDE, json=SENT, headers=headers).status_code == 401
    assert ask(None).get(PROBLEMS, headers=headers).status_code == 401


def test_signing_out_ends_the_session_everywhere(ask: Ask, database: Sessions, cookie: str) -> None:
    with transaction(database) as session:
        people.sign_out(session, cookie.split("=", 1)[1])
    assert ask(None).get(PROBLEMS, headers={"Cookie": cookie}).status_code == 401
