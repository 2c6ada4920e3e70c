"""``attest serve``: the whole service."""

import logging

from app import logs
from app.service.serve import serve
from app.settings import Settings


def run(
    host: str | None,
    port: int | None,
    slots: int | None,
    worker: bool,
    demo: bool,
    once: bool,
) -> int:
    """Serves until it is told to end. Returns 0."""
    logs.to_stderr()
    logging.getLogger("alembic").setLevel(logging.WARNING)
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    flags = {
        name: value for name, value in {"host": host, "port": port}.items() if value is not None
    }
    settings = Settings().model_copy(update=flags)
    return serve(settings, slots=slots, worker=worker, demo=demo or once, once=once)
