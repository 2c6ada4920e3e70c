"""People, their roles, and how they prove to be themselves.

A secret (token, link, browser session) is shown once and stored as its hash.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from app.errors import InvalidRequest, NotFound
from app.models import Course, Enrolment, Person, SignInLink, Token, WebSession
from app.models.base import now

Role = Literal["student", "ta", "instructor", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)  # each may do what the ones before it may

TOKEN_PREFIX = "att_"  # noqa: S105
LINK_LIFETIME = timedelta(days=2)
SESSION_LIFETIME = timedelta(days=30)
USE_NOTED_EVERY = timedelta(minutes=1)

_ADDRESS = re.compile(r"[^\s@]+@[^\s@]+")


@dataclass(frozen=True)
class Bearer:
    """Who holds a token, and what the token may be used for.

    ``use_is_stale``: its last use was noted so long ago that ``note_use`` should be called.
    """

    person: Person
    scope: str
    token_hash: str
    use_is_stale: bool


@dataclass(frozen=True)
class SignedIn:
    """A new browser session; ``secret`` goes into the cookie."""

    person: Person
    secret: str
    expires_at: datetime


def by_email(session: Session, email: str) -> Person | None:
    """The person with that address, whatever its case."""
    return session.scalar(select(Person).where(Person.email == email.strip().lower()))


def add(session: Session, name: str, email: str, *, is_admin: bool = False) -> Person:
    """A new person. Raises InvalidRequest for what is no address, and one that is taken."""
    if not _ADDRESS.fullmatch(email.strip()):
        raise InvalidRequest(f"{email!r} is no address; expected one such as ada@example.org")
    if by_email(session, email):
        raise InvalidRequest(f"there is already a person with the address {email}")
    person = Person(name=name, email=email.strip().lower(), is_admin=is_admin)
    session.add(person)
    session.flush()
    return person


def enrol(session: Session, person: Person, course: Course, role: Role) -> None:
    """Gives ``person`` that role in ``course``, instead of any they had."""
    session.merge(Enrolment(course_id=course.id, person_id=person.id, role=role))


def default_course(session: Session) -> Course:
    """The course that the folder's problems belong to: the first; made if there is none."""
    course = session.scalar(select(Course).order_by(Course.id).limit(1))
    if course is None:
        course = Course(slug="course", title="Course")
        session.add(course)
        session.flush()
    return course


def role(session: Session, person: Person, course_id: str) -> Role | None:
    """The person's role in the course; None for somebody who is not in it."""
    if person.is_admin:
        return "admin"
    return _role(session.get(Enrolment, (course_id, person.id)))


def highest_role(session: Session, person: Person) -> Role | None:
    """The best role that the person has in any course."""
    if person.is_admin:
        return "admin"
    own = session.scalars(select(Enrolment).where(Enrolment.person_id == person.id))
    return max(filter(None, map(_role, own)), key=ROLES.index, default=None)


def courses(session: Session, person: Person, at_least: Role = "student") -> list[str]:
    """Ids of the courses in which the person has that role or a higher one."""
    if person.is_admin:
        return list(session.scalars(select(Course.id)))
    own = session.scalars(select(Enrolment).where(Enrolment.person_id == person.id))
    return [each.course_id for each in own if is_at_least(_role(each), at_least)]


def students(session: Session, viewer: Person) -> list[Person]:
    """The students of the courses that ``viewer`` is staff of, by name."""
    enrolled = select(Enrolment.person_id).where(
        Enrolment.role == "student", Enrolment.course_id.in_(courses(session, viewer, "ta"))
    )
    found = select(Person).where(Person.id.in_(enrolled)).order_by(Person.name, Person.id)
    return list(session.scalars(found))


def is_at_least(found: Role | None, wanted: Role) -> bool:
    """Whether who has ``found`` may do what ``wanted`` may."""
    return found is not None and ROLES.index(found) >= ROLES.index(wanted)


def _role(enrolment: Enrolment | None) -> Role | None:
    return next((r for r in ROLES if enrolment and r == enrolment.role), None)


# Tokens


def issue_token(
    session: Session,
    person: Person,
    label: str = "",
    scope: str = "all",
    expires: datetime | None = None,
) -> str:
    """A new token for ``person``; its text is known only now."""
    text = TOKEN_PREFIX + secrets.token_urlsafe(32)
    session.add(
        Token(
            hash=_hash(text),
            person_id=person.id,
            prefix=text[: len(TOKEN_PREFIX) + 6],
            label=label,
            scope=scope,
            created_at=now(),
            expires_at=expires,
        )
    )
    return text


def by_token(session: Session, text: str) -> Bearer | None:
    """Who holds this token; None if it is unknown, expired or revoked."""
    found = session.execute(_BY_TOKEN, {"hash": _hash(text)}).one_or_none()
    if found is None or found[0].revoked_at or _is_past(found[0].expires_at):
        return None
    token, person = found
    used = token.last_used_at
    stale = used is None or now() - used > USE_NOTED_EVERY
    return Bearer(person, token.scope, token.hash, stale)


_BY_TOKEN = (
    select(Token, Person)
    .join(Person, Person.id == Token.person_id)
    .where(Token.hash == bindparam("hash"))
)


def note_use(session: Session, token_hash: str) -> None:
    """Stores that the token is used now."""
    session.execute(update(Token).where(Token.hash == token_hash).values(last_used_at=now()))


def revoke_tokens(session: Session, person: Person, label: str) -> None:
    """Ends all tokens of that label that the person holds."""
    held = (Token.person_id == person.id, Token.label == label, Token.revoked_at.is_(None))
    session.execute(update(Token).where(*held).values(revoked_at=now()))


# Browsers


def sign_in_link(session: Session, person: Person, label: str = "") -> str:
    """The code of a link that signs one browser in, once, within two days."""
    code = secrets.token_urlsafe(32)
    expires = now() + LINK_LIFETIME
    session.add(SignInLink(hash=_hash(code), person_id=person.id, label=label, expires_at=expires))
    return code


def void_links(session: Session, person: Person, label: str) -> None:
    """Makes the person's unused links of that label useless."""
    held = (SignInLink.person_id == person.id, SignInLink.label == label)
    session.execute(
        update(SignInLink).where(*held, SignInLink.used_at.is_(None)).values(used_at=now())
    )


def redeem(session: Session, code: str) -> SignedIn:
    """Signs a browser in. Raises NotFound for a code that is unknown, used or too old."""
    link = session.get(SignInLink, _hash(code))
    if link is None or link.used_at or _is_past(link.expires_at):
        raise NotFound("this sign-in link is unknown, was used before, or is too old")
    link.used_at = now()
    return sign_in(session, session.get_one(Person, link.person_id))


def sign_in(session: Session, person: Person) -> SignedIn:
    """A new browser session for ``person``."""
    secret = secrets.token_urlsafe(32)
    expires = now() + SESSION_LIFETIME
    session.add(WebSession(hash=_hash(secret), person_id=person.id, expires_at=expires))
    return SignedIn(person, secret, expires)


def by_session(session: Session, secret: str) -> Person | None:
    """Who is signed in with this cookie."""
    found = session.get(WebSession, _hash(secret))
    if found is None or _is_past(found.expires_at):
        return None
    return session.get_one(Person, found.person_id)


def sign_out(session: Session, secret: str) -> None:
    """Ends the browser session."""
    found = session.get(WebSession, _hash(secret))
    if found:
        session.delete(found)


def _hash(secret: str) -> str:
    # 256 random bits need no salt and no slow hash: there is nothing to guess.
    return hashlib.sha256(secret.encode()).hexdigest()


def _is_past(moment: datetime | None) -> bool:
    return moment is not None and moment <= now()
