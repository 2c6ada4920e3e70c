"""The API process: settings in, an ASGI application out.

It imports neither numpy nor torch nor anything that knows an answer; a test holds it to that.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from prometheus_client import CollectorRegistry

from app import db, schema
from app.api import docs, events, health, problems, submissions
from app.api.metrics import QueueCollector, RequestTimes
from app.api.upload import OVERHEAD
from app.db import snapshot
from app.http.access import COOKIE
from app.http.body_limit import BodyLimit
from app.http.changes import Changes
from app.http.cross_origin import OwnOrigin
from app.http.errors import add_error_handlers
from app.http.head import HeadAsGet
from app.http.headers import SecurityHeaders
from app.http.rates import Rates
from app.jobs import WAITERS, bell_path
from app.settings import Settings
from app.web import routes as pages

DESCRIPTION = "Grades Transformer coursework and names the misunderstanding."


def create_app(settings: Settings) -> FastAPI:
    """The application on the settings' database, which must have been migrated.

    While it is about to stop, ``app.state.changes.release()`` ends the requests that wait.
    """
    app = FastAPI(
        title="Attest",
        description=DESCRIPTION,
        version=version("attest-grader"),
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
        generate_unique_id_function=_operation_id,
    )
    sessions = db.sessions(settings)
    registry = CollectorRegistry()
    registry.register(QueueCollector(sessions, settings.jobs.stalled_after))
    with snapshot(sessions) as session:
        bell = bell_path(session, WAITERS)
    app.state.settings = settings
    app.state.sessions = sessions
    app.state.rates = Rates(settings.rates)
    app.state.changes = Changes(sessions, bell)
    app.state.registry = registry
    app.include_router(_api())
    app.include_router(health.router)
    docs.add_docs(app)
    app.include_router(pages.router)
    add_error_handlers(app, pages.error_page)
    # The last one added sees a request first.
    app.add_middleware(BodyLimit, limit=settings.upload_limit + OVERHEAD, page=pages.error_page)
    app.add_middleware(OwnOrigin, cookie=COOKIE)
    app.add_middleware(RequestTimes, registry=registry)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(HeadAsGet)
    return app


def _api() -> APIRouter:
    router = APIRouter(prefix="/api/v1")
    for part in (submissions, events, problems):
        router.include_router(part.router)
    return router


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    schema.require_current(app.state.sessions)
    app.state.changes.start()
    try:
        yield
    finally:
        app.state.changes.stop()
        app.state.sessions.kw["bind"].dispose()


def _operation_id(route: APIRoute) -> str:
    return route.name
