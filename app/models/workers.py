"""The processes that grade, as the rest of the service knows them."""

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, new_id


class Worker(Base):
    """One worker process. It grades once ``warm_since`` is set."""

    __tablename__ = "worker"

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    host: Mapped[str]
    pid: Mapped[int]
    level: Mapped[str | None]
    started_at: Mapped[datetime]
    warm_since: Mapped[datetime | None]
    heartbeat_at: Mapped[datetime]
