"""The demo course: a student, a teaching assistant and an instructor, with new keys each time."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import people
from app.errors import InvalidRequest
from app.models import Course, Person
from app.people import Role

SLUG = "demo"
LABEL = "demo"
PEOPLE: dict[Role, str] = {
    "student": "Demo Student",
    "ta": "Demo Assistant",
    "instructor": "Demo Instructor",
}
BUILT_IN = "Built-in Submissions"


@dataclass(frozen=True)
class Keys:
    """What opens the demo: tokens and the codes of sign-in links by role, and the token that the
    built-in submissions are sent with."""

    tokens: dict[Role, str]
    codes: dict[Role, str]
    built_in: str


def seed(session: Session) -> Keys:
    """Makes the course if it is not there; the keys of an earlier start open nothing any more.

    Raises InvalidRequest for a database with people of its own: a demo has no place there.
    """
    course = _course(session)
    members = {role: _member(session, course, name, role) for role, name in PEOPLE.items()}
    sender = _member(session, course, BUILT_IN, "student")
    return Keys(
        tokens={role: _new_token(session, person) for role, person in members.items()},
        codes={role: _new_code(session, person) for role, person in members.items()},
        built_in=_new_token(session, sender),
    )


def _course(session: Session) -> Course:
    found = session.scalar(select(Course).where(Course.slug == SLUG))
    if found:
        return found
    if session.scalar(select(Person.id).limit(1)):
        raise InvalidRequest(
            "--demo needs an empty database or one that a demo made; this one holds people: "
            "leave --demo out, or set ATTEST_DATA to another folder"
        )
    course = people.default_course(session)
    course.slug, course.title = SLUG, "Demo course"
    return course


def _member(session: Session, course: Course, name: str, role: Role) -> Person:
    email = f"{name.lower().replace(' ', '.')}@demo.example"
    person = people.by_email(session, email) or people.add(session, name, email)
    people.enrol(session, person, course, role)
    return person


def _new_token(session: Session, person: Person) -> str:
    people.revoke_tokens(session, person, LABEL)
    return people.issue_token(session, person, LABEL)


def _new_code(session: Session, person: Person) -> str:
    people.void_links(session, person, LABEL)
    return people.sign_in_link(session, person, LABEL)
