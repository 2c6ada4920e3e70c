"""What was sent, as it was sent; these rows never change."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.models.base import Base, new_id
from app.models.people import Person


class Submission(Base):
    """One person's work on one problem at one time. ``answers`` is JSON text."""

    __tablename__ = "submission"
    __table_args__ = (
        Index("ix_submission_person_problem", "person_id", "problem_id"),
        Index("ix_submission_course", "course_id", "id"),
    )

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    problem_id: Mapped[str] = mapped_column(ForeignKey("problem.id"))
    course_id: Mapped[str] = mapped_column(ForeignKey("course.id"))
    person_id: Mapped[str] = mapped_column(ForeignKey("person.id"))
    answers: Mapped[str | None] = mapped_column(deferred=True)
    text: Mapped[str | None] = mapped_column(deferred=True)
    sha256: Mapped[str]
    attempt: Mapped[int]
    received_at: Mapped[datetime]

    person: Mapped[Person] = relationship(lazy="joined", innerjoin=True)
    files: Mapped[list["SubmissionFile"]] = relationship(order_by="SubmissionFile.position")


class SubmissionFile(Base):
    """One file of a submission."""

    __tablename__ = "submission_file"

    submission_id: Mapped[str] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    data: Mapped[bytes] = mapped_column(deferred=True)


class IdempotencyKey(Base):
    """A client's name for one request, so that sending it twice does it once."""

    __tablename__ = "idempotency_key"

    person_id: Mapped[str] = mapped_column(ForeignKey("person.id"), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    request_sha256: Mapped[str]
    submission_id: Mapped[str] = mapped_column(ForeignKey("submission.id"))
