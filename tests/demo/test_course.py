"""The demo course: made once, opened by new keys at each start, never among real people."""

import pytest

from app import people
from app.db import snapshot, transaction
from app.demo import course
from app.errors import InvalidRequest, NotFound
from app.models import Course, Person


def seed(database) -> course.Keys:
    with transaction(database) as session:
        return course.seed(session)


def test_each_role_gets_a_token_and_a_link_of_its_own(database):
    keys = seed(database)
    with transaction(database) as session:
        for role in ("student", "ta", "instructor"):
            bearer = people.by_token(session, keys.tokens[role])
            assert bearer
            assert people.highest_role(session, bearer.person) == role
            assert people.redeem(session, keys.codes[role]).person.id == bearer.person.id
        sender = people.by_token(session, keys.built_in)
        assert sender
        assert sender.person.name == course.BUILT_IN


def test_a_second_start_makes_nobody_twice_and_voids_the_earlier_keys(database):
    first, second = seed(database), seed(database)
    with transaction(database) as session:
        assert session.query(Person).count() == 4
        assert session.query(Course).count() == 1
        for old in (*first.tokens.values(), first.built_in):
            assert people.by_token(session, old) is None
        with pytest.raises(NotFound):
            people.redeem(session, first.codes["student"])
        assert people.by_token(session, second.tokens["student"])


def test_the_folders_problems_belong_to_the_demo_course(database):
    with transaction(database) as session:
        people.default_course(session)  # as a start without a demo leaves it
    seed(database)
    with snapshot(database) as session:
        assert people.default_course(session).slug == course.SLUG


def test_a_demo_has_no_place_among_real_people(database, members):
    with pytest.raises(InvalidRequest, match="this one holds people"):
        seed(database)
