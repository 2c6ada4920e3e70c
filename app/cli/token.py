"""``attest token``: keys for people, shown once."""

from datetime import timedelta
from typing import get_args

from sqlalchemy.orm import Session

from app import audit, people, schema
from app.db import sessions, transaction
from app.errors import InvalidRequest
from app.models import Person
from app.models.base import now
from app.people import Role
from app.settings import Settings


def run(email: str, name: str | None, role: str | None, label: str, days: int | None) -> int:
    """Prints a new token of that person, whom ``role`` makes a member of the course. Returns 0."""
    database = sessions(Settings())
    schema.require_current(database)
    with transaction(database) as session:
        person = _person(session, email, name, role)
        expires = now() + timedelta(days=days) if days else None
        text = people.issue_token(session, person, label, expires=expires)
        audit.write(session, None, "token", f"person:{person.id}", {"label": label})
    print(text)
    return 0


def _person(session: Session, email: str, name: str | None, role: str | None) -> Person:
    person = people.by_email(session, email)
    if person is None and role is None:
        raise InvalidRequest(f"no person has the address {email}; --role adds one")
    person = person or people.add(session, name or email, email)
    if role is not None:
        _give_role(session, person, role)
    return person


def _give_role(session: Session, person: Person, role: str) -> None:
    wanted: Role | None = next((r for r in get_args(Role) if r == role), None)
    if wanted is None:
        raise InvalidRequest(f"--role is {role!r}; expected one of {', '.join(get_args(Role))}")
    if wanted == "admin":
        person.is_admin = True
    else:
        people.enrol(session, person, people.default_course(session), wanted)
    audit.write(session, None, "role", f"person:{person.id}", {"role": role})
