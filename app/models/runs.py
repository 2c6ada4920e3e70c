"""Gradings and what they found."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.models.base import Base, new_id
from app.models.problems import Version
from app.models.submissions import Submission


class Run(Base):
    """One grading of one submission; a regrade is another run.

    ``ticket`` names the queue entry that may start it; ``fence`` grows with every start, and only
    the latest start may publish; ``tries`` counts starts. ``error`` is our fault in one sentence.
    """

    __tablename__ = "run"
    __table_args__ = (
        UniqueConstraint("submission_id", "number"),
        Index("ix_run_status", "status", "queued_at"),
    )

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    submission_id: Mapped[str] = mapped_column(ForeignKey("submission.id"))
    number: Mapped[int]
    version_id: Mapped[str] = mapped_column(ForeignKey("problem_version.id"), index=True)
    seed: Mapped[int] = mapped_column(BigInteger)
    status: Mapped[str]
    ticket: Mapped[str]
    fence: Mapped[int] = mapped_column(default=0)
    tries: Mapped[int] = mapped_column(default=0)
    queued_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    score: Mapped[float | None]
    sandbox_level: Mapped[str | None]
    printed: Mapped[str] = mapped_column(default="", deferred=True)
    printed_hidden: Mapped[str] = mapped_column(default="", deferred=True)
    notes: Mapped[list[Any]] = mapped_column(default=list)
    remarks: Mapped[list[Any]] = mapped_column(default=list)
    sandbox_s: Mapped[float] = mapped_column(default=0.0)
    total_s: Mapped[float] = mapped_column(default=0.0)
    error: Mapped[str | None]

    submission: Mapped[Submission] = relationship()
    version: Mapped[Version] = relationship()
    results: Mapped[list["Result"]] = relationship(order_by="Result.position")


class Result(Base):
    """How one check of one run ended; the fields are those of ``domain.run.CheckResult``."""

    __tablename__ = "result"

    run_id: Mapped[str] = mapped_column(ForeignKey("run.id"), primary_key=True)
    check_id: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int]
    outcome: Mapped[str]
    points: Mapped[float]
    finding: Mapped[dict[str, Any] | None]
    misconception: Mapped[str | None]
    evidence: Mapped[dict[str, Any] | None] = mapped_column(deferred=True)
