"""What all tables share: ids, times, names of constraints."""

import secrets
import time
import uuid
from datetime import UTC, datetime
from typing import Any, cast

from sqlalchemy import JSON, DateTime, Dialect, Insert, MetaData, Table, insert
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.types import TypeDecorator

from app.domain.run import Json

NAMES = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Moment(TypeDecorator[datetime]):
    """A time in UTC, aware in Python and bound from it: SQLite's own clock functions differ
    between versions."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone, expected an aware time")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    """The base of all tables."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {datetime: Moment, Json: JSON, dict[str, Any]: JSON, list[Any]: JSON}  # noqa: RUF012


def now() -> datetime:
    """The present moment, in UTC."""
    return datetime.now(UTC)


def new_id() -> str:
    """A UUID of version 7: ids that were made later sort later, to a quarter of a microsecond."""
    milliseconds, rest = divmod(time.time_ns(), 1_000_000)
    fraction = rest * 4096 // 1_000_000
    value = milliseconds << 80 | 0x7 << 76 | fraction << 64 | 0b10 << 62 | secrets.randbits(62)
    return str(uuid.UUID(int=value))


def insertion(model: type[Base]) -> Insert:
    """An INSERT of rows as they are, in front of the unit of work: tracking objects that nobody
    will change costs as much again as storing them."""
    return insert(cast(Table, model.__table__))
