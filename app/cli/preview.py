"""``attest preview``: the page of one problem file as students see it, while it is written.

No database, no sandbox, and nobody but this machine: it listens on loopback alone.
"""

import asyncio
import hashlib
import socket
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from types import FrameType

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse
from fastapi.sse import EventSourceResponse, format_sse_event
from starlette.middleware.trustedhost import TrustedHostMiddleware

from app.catalogue.folder import selected_files
from app.catalogue.problem_file import read_problem
from app.catalogue.source import read_bytes
from app.errors import InvalidRequest, ProblemFileError
from app.http.errors import ErrorDetails, add_error_handlers
from app.http.headers import SecurityHeaders
from app.service.listener import address, listening
from app.web import assets, switches
from app.web.page import bare_page
from app.web.preview import show_broken, show_problem
from app.web.problem import starter_file

HOST = "127.0.0.1"
LOOK_EVERY_S = 0.2


def run(path: Path, port: int) -> int:
    """Serves until Ctrl-C or SIGTERM. Returns 0.

    Raises UnknownProblem where there is no such file, and AttestError where the port is taken.
    """
    file, *more = selected_files([path])
    if more:
        raise InvalidRequest(f"{path} holds {1 + len(more)} problem files; expected one")
    with listening(HOST, port) as listener:
        stop = threading.Event()
        config = uvicorn.Config(
            create_preview(file, stop), log_level="warning", access_log=False, server_header=False
        )
        _Server(config, address(HOST, listener), stop).run(sockets=[listener])
    return 0


class _Server(uvicorn.Server):
    """Says when it is ready, and ends at the first signal, without sending it again."""

    def __init__(self, config: uvicorn.Config, url: str, stop: threading.Event) -> None:
        super().__init__(config)
        self.url = url
        self.stop = stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        print(f"READY {self.url}", flush=True)

    def handle_exit(self, _sig: int, _frame: FrameType | None) -> None:
        self.stop.set()
        self.should_exit = True


def create_preview(path: Path, stop: threading.Event) -> FastAPI:
    """The pages of the file at ``path``; event streams end when ``stop`` is set."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.include_router(assets.router)
    app.include_router(switches.router)

    @app.get("/")
    def shown(request: Request) -> Response:
        return _shown(request, path)

    @app.get("/events")
    async def events() -> Response:
        return EventSourceResponse(_changes(path, stop))

    @app.get("/problems/{_problem_id}/starter")
    def starter(_problem_id: str) -> Response:
        return starter_file(read_problem(path).problem)

    @app.post("/problems/{_problem_id}")
    def sent(_problem_id: str) -> Response:
        return RedirectResponse("/", 303)  # the banner says that nothing is graded

    add_error_handlers(app, _error)
    # Another site must not read the page under a name of its own that leads here.
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])
    app.add_middleware(SecurityHeaders)
    return app


def _error(request: Request, details: ErrorDetails) -> Response:
    return bare_page(request).show("error.html", details.status, error=details)


def _shown(request: Request, path: Path) -> Response:
    state = state_of(path)  # first: of a change from here on the page is told
    try:
        return show_problem(request, read_problem(path), state)
    except ProblemFileError as error:
        return show_broken(request, error.places, state)


def state_of(path: Path) -> str:
    """Which content the file has; another one for every change."""
    try:
        return hashlib.sha256(read_bytes(path)).hexdigest()
    except ProblemFileError as error:
        return hashlib.sha256(str(error).encode()).hexdigest()


async def _changes(path: Path, stop: threading.Event) -> AsyncIterator[bytes]:
    """An event now and after each change, once the file stays as it is: some editors empty it
    before they write."""
    told = before = ""
    while not stop.is_set():
        now = state_of(path)
        if now == before != told:
            yield format_sse_event(event="state", data_str=now)
            told = now
        before = now
        await asyncio.sleep(LOOK_EVERY_S)
