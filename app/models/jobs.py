"""The queue of the embedded engine: hints that rows elsewhere wait for work."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base


class Job(Base):
    """One hint. ``deliveries`` counts how often a worker took it up; it is gone when done."""

    __tablename__ = "job"
    __table_args__ = (
        Index("ix_job_order", "running", "priority"),
        {"sqlite_autoincrement": True},  # an id never comes back, so a late "done" hits nothing
    )

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    name: Mapped[str]
    payload: Mapped[dict[str, Any]]
    queue: Mapped[str]
    priority: Mapped[int]
    run_at: Mapped[datetime]
    running: Mapped[bool] = mapped_column(default=False)
    deliveries: Mapped[int] = mapped_column(default=0)
    enqueued_at: Mapped[datetime]
