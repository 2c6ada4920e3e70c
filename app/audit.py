"""The audit log: who did what that changes a grade or a right."""

from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.run import Json
from app.models import Entry, Person
from app.models.base import now


def write(
    session: Session, by: Person | None, action: str, subject: str, details: Mapping[str, Json]
) -> None:
    """Adds an entry in the caller's transaction; ``by`` None is the program itself."""
    session.add(
        Entry(
            at=now(),
            by_id=by.id if by else None,
            action=action,
            subject=subject,
            details=dict(details),
        )
    )


def about(session: Session, subject: str) -> list[Entry]:
    """All entries about one thing, oldest first."""
    return list(session.scalars(select(Entry).where(Entry.subject == subject).order_by(Entry.id)))
