"""Problems by content: every version that was ever proposed, and which of them is served."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.models.base import Base, new_id
from app.models.people import Course


class Assignment(Base):
    """A group of problems of one course, made from one folder. ``title`` is {"en", "zh"}."""

    __tablename__ = "assignment"
    __table_args__ = (UniqueConstraint("course_id", "slug"),)

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    course_id: Mapped[str] = mapped_column(ForeignKey("course.id"))
    slug: Mapped[str]
    title: Mapped[dict[str, Any]]
    position: Mapped[int]

    course: Mapped[Course] = relationship(lazy="joined", innerjoin=True)


class Version(Base):
    """The bytes of one problem file. ``state``: proving, live (proven once), refused.

    ``problem_id`` is what the bytes say; a problem has a row of its own only once a version of it
    was published. ``title``, ``points`` and ``kind`` repeat the bytes, so that lists need no YAML.
    """

    __tablename__ = "problem_version"

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    problem_id: Mapped[str] = mapped_column(index=True)
    sha256: Mapped[str] = mapped_column(unique=True)
    yaml: Mapped[bytes] = mapped_column(deferred=True)
    path: Mapped[str]
    title: Mapped[dict[str, Any]]
    points: Mapped[float]
    kind: Mapped[str]
    state: Mapped[str]
    errors: Mapped[list[Any]]
    proof: Mapped[dict[str, Any] | None] = mapped_column(deferred=True)
    created_at: Mapped[datetime]
    proposed_at: Mapped[datetime]
    published_at: Mapped[datetime | None]
    by_id: Mapped[str | None] = mapped_column(ForeignKey("person.id"))

    @property
    def name(self) -> str:
        """The version as reports name it."""
        return f"sha256:{self.sha256}"

    @property
    def assignment(self) -> str:
        """The assignment's slug: the folder that the file lies in."""
        return self.path.split("/", maxsplit=1)[0]


class Problem(Base):
    """A problem that is served; the id is that of its file."""

    __tablename__ = "problem"

    id: Mapped[str] = mapped_column(primary_key=True)
    assignment_id: Mapped[str] = mapped_column(ForeignKey("assignment.id"), index=True)
    current_version_id: Mapped[str] = mapped_column(ForeignKey("problem_version.id"))

    assignment: Mapped[Assignment] = relationship(lazy="joined", innerjoin=True)
    current_version: Mapped[Version] = relationship(lazy="joined", innerjoin=True)


class ProblemFile(Base):
    """What the folder held when it was last looked at; ``path`` is relative to the folder.

    ``errors`` are places of the file that keep it from being served.
    """

    __tablename__ = "problem_file"

    path: Mapped[str] = mapped_column(primary_key=True)
    sha256: Mapped[str]
    errors: Mapped[list[Any]]
    seen_at: Mapped[datetime]
