"""What people did that changes a grade or a right. Triggers refuse to change or delete entries."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base


class Entry(Base):
    """One act: who did what to which thing, with the values before and after in ``details``."""

    __tablename__ = "audit"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012 - SQLAlchemy's own form

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    at: Mapped[datetime]
    by_id: Mapped[str | None] = mapped_column(ForeignKey("person.id"))
    action: Mapped[str]
    subject: Mapped[str] = mapped_column(index=True)
    details: Mapped[dict[str, Any]]
