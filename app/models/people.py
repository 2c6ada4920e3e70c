"""Persons, courses, who has which role where, and how each proves to be themselves.

Secrets are stored as SHA-256 of 256 random bits, so a copy of the database opens nothing.
"""

from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, new_id


class Person(Base):
    """Somebody who signs in or holds a token."""

    __tablename__ = "person"

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    name: Mapped[str]
    email: Mapped[str] = mapped_column(unique=True)
    is_admin: Mapped[bool] = mapped_column(default=False)


class Course(Base):
    """One class in one term. ``supersede``: whether a newer submission replaces queued ones."""

    __tablename__ = "course"

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    slug: Mapped[str] = mapped_column(unique=True)
    title: Mapped[str]
    supersede: Mapped[str] = mapped_column(default="queued")  # queued | never


class Enrolment(Base):
    """One person's role in one course: student, ta or instructor."""

    __tablename__ = "enrolment"

    course_id: Mapped[str] = mapped_column(ForeignKey("course.id"), primary_key=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("person.id"), primary_key=True, index=True)
    role: Mapped[str]


class Token(Base):
    """A key for scripts; ``prefix`` is what a person recognises it by."""

    __tablename__ = "token"

    hash: Mapped[str] = mapped_column(primary_key=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("person.id"), index=True)
    prefix: Mapped[str]
    label: Mapped[str]
    scope: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class WebSession(Base):
    """A browser that is signed in."""

    __tablename__ = "web_session"

    hash: Mapped[str] = mapped_column(primary_key=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("person.id"), index=True)
    expires_at: Mapped[datetime]


class SignInLink(Base):
    """A link that signs one browser in, once."""

    __tablename__ = "sign_in_link"

    hash: Mapped[str] = mapped_column(primary_key=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("person.id"), index=True)
    label: Mapped[str]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
