"""Points that a person gave instead of the machine's."""

from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base


class Override(Base):
    """The points of one check of one submission, whatever its runs say."""

    __tablename__ = "override"

    submission_id: Mapped[str] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    check_id: Mapped[str] = mapped_column(primary_key=True)
    points: Mapped[float]
    reason: Mapped[str]
    by_id: Mapped[str] = mapped_column(ForeignKey("person.id"))
    at: Mapped[datetime]
