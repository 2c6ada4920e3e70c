"""Roles, tokens, sign-in links and browser sessions."""

from datetime import timedelta

import pytest
import time_machine

from app import people
from app.db import Sessions, snapshot, transaction
from app.errors import InvalidRequest, NotFound
from app.models import SignInLink, Token, WebSession
from app.models.base import now


def test_a_person_has_their_role_in_their_course_and_none_elsewhere(database, members):
    with snapshot(database) as session:
        found = {
            name: people.role(session, getattr(members, name), members.course.id)
            for name in ("student", "ta", "instructor", "outsider", "admin")
        }
        assert found == {
            "student": "student",
            "ta": "ta",
            "instructor": "instructor",
            "outsider": None,
            "admin": "admin",
        }
        assert people.role(session, members.ta, "another course") is None


def test_the_highest_role_counts_over_all_courses(database, members):
    with snapshot(database) as session:
        assert people.highest_role(session, members.instructor) == "instructor"
        assert people.highest_role(session, members.outsider) is None
        assert people.highest_role(session, members.admin) == "admin"


def test_an_address_belongs_to_one_person_whatever_its_case(database, members):
    with transaction(database) as session:
        found = people.by_email(session, " Student@Example.ORG ")
        assert found
        assert found.id == members.student.id
        with pytest.raises(InvalidRequest, match="already a person with the address"):
            people.add(session, "Twin", "STUDENT@example.org")


@pytest.mark.parametrize("email", ["", " ", "ada", "ada@", "@example.org", "a da@example.org"])
def test_what_is_no_address_makes_no_person(database, members, email):
    with transaction(database) as session, pytest.raises(InvalidRequest, match="no address"):
        people.add(session, "Ada", email)


def test_a_token_opens_until_it_is_revoked(database: Sessions, members):
    with transaction(database) as session:
        text = people.issue_token(session, members.student, "laptop")
        other = people.issue_token(session, members.student, "phone")
    assert len(text) == len("att_") + 43
    with transaction(database) as session:
        bearer = people.by_token(session, text)
        assert bearer
        assert bearer.person.id == members.student.id
        people.revoke_tokens(session, members.student, "laptop")
    with snapshot(database) as session:
        assert people.by_token(session, text) is None
        assert people.by_token(session, other) is not None
        assert people.by_token(session, text + "x") is None


def test_a_token_ends_at_its_time(database, members):
    with transaction(database) as session:
        expires = now() + timedelta(days=3)
        text = people.issue_token(session, members.student, expires=expires)
    with time_machine.travel(expires - timedelta(seconds=1)), snapshot(database) as session:
        assert people.by_token(session, text) is not None
    with time_machine.travel(expires + timedelta(seconds=1)), snapshot(database) as session:
        assert people.by_token(session, text) is None


def test_the_use_of_a_token_is_noted_once_a_minute(database, members):
    with transaction(database) as session:
        text = people.issue_token(session, members.student)
    with transaction(database) as session:
        bearer = people.by_token(session, text)
        assert bearer
        assert bearer.use_is_stale
        people.note_use(session, bearer.token_hash)
    with snapshot(database) as session:
        again = people.by_token(session, text)
        assert again
        assert not again.use_is_stale
    with time_machine.travel(now() + timedelta(seconds=61)), snapshot(database) as session:
        later = people.by_token(session, text)
        assert later
        assert later.use_is_stale


def test_a_sign_in_link_works_once(database, members):
    with transaction(database) as session:
        code = people.sign_in_link(session, members.student)
    with transaction(database) as session:
        signed_in = people.redeem(session, code)
    with snapshot(database) as session:
        person = people.by_session(session, signed_in.secret)
        assert person
        assert person.id == members.student.id
    with transaction(database) as session, pytest.raises(NotFound, match="used before"):
        people.redeem(session, code)


def test_a_sign_in_link_ends_after_two_days(database, members):
    with transaction(database) as session:
        code = people.sign_in_link(session, members.student)
    late = time_machine.travel(now() + timedelta(days=2, seconds=1))
    with late, transaction(database) as session, pytest.raises(NotFound):
        people.redeem(session, code)


def test_a_void_link_opens_nothing(database, members):
    with transaction(database) as session:
        code = people.sign_in_link(session, members.student, "demo")
        kept = people.sign_in_link(session, members.student, "letter")
        people.void_links(session, members.student, "demo")
    with transaction(database) as session:
        with pytest.raises(NotFound):
            people.redeem(session, code)
        assert people.redeem(session, kept).person.id == members.student.id


def test_signing_out_ends_the_session_everywhere(database, members):
    with transaction(database) as session:
        secret = people.sign_in(session, members.student).secret
    with transaction(database) as session:
        people.sign_out(session, secret)
    with snapshot(database) as session:
        assert people.by_session(session, secret) is None


def test_no_secret_stands_in_the_database(database, members):
    with transaction(database) as session:
        secrets = [
            people.issue_token(session, members.student),
            people.sign_in_link(session, members.student),
            people.sign_in(session, members.student).secret,
        ]
    with snapshot(database) as session:
        rows = [*session.query(Token), *session.query(SignInLink), *session.query(WebSession)]
        stored = repr([vars(row) for row in rows])
    assert len(rows) == 3
    assert not [secret for secret in secrets if secret in stored]
