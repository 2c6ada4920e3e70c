"""Runs the steps on the connection that the program gives, or on the settings' database."""

from alembic import context
from sqlalchemy import Connection

from app.db import sessions
from app.models import Base
from app.models.base import Moment
from app.settings import Settings


def render(kind: str, thing: object, _context: object) -> str | bool:
    """Steps name no class of the program, which may move."""
    return "sa.DateTime(timezone=True)" if kind == "type" and isinstance(thing, Moment) else False


def run(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=True,
        render_item=render,
        transactional_ddl=True,
    )
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    with sessions(Settings()).kw["bind"].connect().execution_options(writes=True) as opened:
        run(opened)
