"""Who asks, and what they may.

A handler says in its signature what it needs; nothing else decides about access::

    def page(viewer: Student, database: Database) -> ...:
        with snapshot(database) as session:        # reads; ``transaction`` writes
            view = submissions.find(session, viewer, id)

``SignedIn``, ``Student``, ``Assistant`` and ``Instructor`` give the ``Person`` who asks, or answer
401 without a valid token or cookie, 429 over the rate limit, and 403 for who has no such role in
any course: before anything is looked up, so that a 403 never tells what exists. Whether this
person may see this very thing is for the use case to say, with NotFound. A route without a person
declares ``dependencies=[Public]``; a test fails on a route that declares nothing.

A request with an ``Authorization`` header is judged by it alone; the cookie counts otherwise.
"""

from dataclasses import dataclass
from typing import Annotated, Literal, cast

from fastapi import Depends, Request, Response, Security
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer

from app import people
from app.db import Sessions, snapshot, transaction
from app.errors import AttestError, Forbidden
from app.http.rates import Rates
from app.models import Person
from app.people import Role
from app.settings import Settings

COOKIE = "attest_session"
READING = frozenset({"GET", "HEAD", "OPTIONS"})

_bearer = HTTPBearer(auto_error=False, description="A token: `att_` and 43 characters.")
_cookie = APIKeyCookie(name=COOKIE, auto_error=False, description="Set by a sign-in link.")


class Unauthenticated(AttestError):
    """No token or cookie, or one that is unknown, expired or revoked."""

    status = 401
    headers = {"WWW-Authenticate": "Bearer"}  # noqa: RUF012


@dataclass(frozen=True)
class Visitor:
    """Who asks, with the best role that they have in any course. ``key`` counts their requests."""

    person: Person
    role: Role | None
    scope: str
    key: str


async def _database(request: Request) -> Sessions:
    return cast(Sessions, request.app.state.sessions)


async def _rates(request: Request) -> Rates:
    return cast(Rates, request.app.state.rates)


Database = Annotated[Sessions, Depends(_database)]
"""Opens sessions: ``with snapshot(database)`` to read, ``with transaction(database)`` to write."""


async def _settings(request: Request) -> Settings:
    return cast(Settings, request.app.state.settings)


Configuration = Annotated[Settings, Depends(_settings)]

RateLimits = Annotated[Rates, Depends(_rates)]


def _visitor(
    request: Request,
    database: Database,
    rates: RateLimits,
    token: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
    cookie: Annotated[str | None, Security(_cookie)],
) -> Visitor:
    if "authorization" in request.headers:
        visitor = _by_token(database, token.credentials if token else "")
    else:
        visitor = _by_cookie(database, cookie or "")
    rates.count_request(visitor.key)
    if visitor.scope == "read" and request.method not in READING:
        raise Forbidden("this token may only read")
    return visitor


def _by_token(database: Sessions, text: str) -> Visitor:
    with snapshot(database) as session:
        bearer = people.by_token(session, text)
        if bearer is None:
            raise Unauthenticated("the token is unknown, expired or revoked")
        role = people.highest_role(session, bearer.person)
    if bearer.use_is_stale:
        with transaction(database, durable=False) as session:
            people.note_use(session, bearer.token_hash)
    return Visitor(bearer.person, role, bearer.scope, bearer.token_hash)


def _by_cookie(database: Sessions, secret: str) -> Visitor:
    if not secret:
        raise Unauthenticated("send a token: Authorization: Bearer att_…")
    with snapshot(database) as session:
        person = people.by_session(session, secret)
        if person is None:
            raise Unauthenticated("you are signed out; ask for a new sign-in link")
        return Visitor(person, people.highest_role(session, person), "all", f"cookie {secret}")


@dataclass(frozen=True)
class AtLeast:
    """Lets in who has this role, or a higher one, in some course; None: whoever is signed in."""

    role: Role | None

    async def __call__(self, visitor: Annotated[Visitor, Depends(_visitor)]) -> Person:
        if self.role and not people.is_at_least(visitor.role, self.role):
            raise Forbidden(f"this needs the role {self.role}; you have {visitor.role or 'none'}")
        return visitor.person


SignedIn = Annotated[Person, Depends(AtLeast(None))]
Student = Annotated[Person, Depends(AtLeast("student"))]
Assistant = Annotated[Person, Depends(AtLeast("ta"))]
Instructor = Annotated[Person, Depends(AtLeast("instructor"))]


async def anybody() -> None:
    """Declares that a route is for everybody."""


Public = Depends(anybody)

Declared = Role | Literal["signed in", "public"]


def declared(dependency: object) -> Declared | None:
    """What a route's dependency declares about access, if that is what it is for."""
    if dependency is anybody:
        return "public"
    if isinstance(dependency, AtLeast):
        return dependency.role or "signed in"
    return None


def set_cookie(request: Request, response: Response, signed_in: people.SignedIn) -> None:
    """Signs the browser in that gets ``response``."""
    response.set_cookie(
        COOKIE,
        signed_in.secret,
        expires=signed_in.expires_at,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )


def clear_cookie(response: Response) -> None:
    """Makes the browser forget its session."""
    response.delete_cookie(COOKIE, httponly=True, samesite="lax")
