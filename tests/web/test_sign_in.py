"""Sign-in links: used once, by a button, and ended by signing out."""

import re

from app import people
from app.db import transaction
from app.http.access import COOKIE


def a_link(database, person) -> str:
    with transaction(database) as session:
        return "/sign-in/" + people.sign_in_link(session, person)


def test_looking_at_a_link_shows_a_button_and_does_not_use_it_up(browse, database, served):
    link = a_link(database, served.student)
    client = browse(None)
    assert "<button" in client.get(link).text
    assert client.get(link).status_code == 200
    assert client.post(link, follow_redirects=False).status_code == 303


def test_the_button_signs_the_browser_in(browse, database, served):
    client = browse(None)
    response = client.post(a_link(database, served.student))
    assert response.status_code == 200
    assert "Student" in response.text
    assert "Assignments" in response.text


def test_a_used_link_gets_one_sentence_and_no_session(browse, database, served):
    link = a_link(database, served.student)
    browse(None).post(link)
    again = browse(None)
    response = again.post(link)
    assert response.status_code == 404
    assert "was used before or is too old" in response.text
    assert COOKIE not in again.cookies


def test_an_unknown_link_gets_the_same_sentence(browse):
    assert "was used before or is too old" in browse(None).post("/sign-in/nothing").text


def test_signing_out_ends_the_session_everywhere(browse):
    client = browse("student")
    secret = client.cookies[COOKIE]
    response = client.post("/sign-out")
    assert response.status_code == 401
    assert "You are signed out" in response.text
    other = browse(None)
    other.cookies.set(COOKIE, secret)
    assert other.get("/").status_code == 401


def test_who_is_signed_out_is_told_how_to_come_in(browse):
    response = browse(None).get("/submissions")
    assert response.status_code == 401
    assert "Open the sign-in link" in response.text


def test_a_form_of_another_site_cannot_sign_anybody_out(browse):
    client = browse("student")
    response = client.post("/sign-out", headers={"sec-fetch-site": "cross-site"})
    assert response.status_code == 403
    assert client.get("/").status_code == 200


def test_the_session_cookie_is_out_of_the_reach_of_scripts(browse, database, served):
    response = browse(None).post(a_link(database, served.student), follow_redirects=False)
    cookie = response.headers["set-cookie"]
    assert re.search("httponly", cookie, re.IGNORECASE)
    assert re.search("samesite=lax", cookie, re.IGNORECASE)
