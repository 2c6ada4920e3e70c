"""A real browser at the real service. Needs the extra `browser` and Chromium.

``ATTEST_TEST_CHROMIUM`` names the executable; by default it is looked for on the path. A test fails
on any error in the browser's console, any exception in a page, and any request to another origin.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from app import db, people
from app.db import Sessions, snapshot, transaction
from app.models import Worker
from app.settings import Settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

if find_spec("playwright") is None:
    collect_ignore_glob = ["test_*.py"]

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_S = 60
PEOPLE = {"student": "demo.student@demo.example", "ta": "demo.assistant@demo.example"}


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """Chromium from the system, as it can run for root in a container."""
    place = os.environ.get("ATTEST_TEST_CHROMIUM") or shutil.which("chromium")
    if not place:
        pytest.fail("no chromium on the path; ATTEST_TEST_CHROMIUM names one")
    return {"executable_path": place, "args": FLAGS}


@dataclass(frozen=True)
class Service:
    """A running service with its database and its folder of problems."""

    url: str
    token: str
    sessions: Sessions
    problems: Path

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Grading stands still, as if the worker had very much to do."""
        with snapshot(self.sessions) as session:
            pid = session.scalars(select(Worker.pid)).one()
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def sign_in_link(self, who: str) -> str:
        """A fresh one-time link."""
        with transaction(self.sessions) as session:
            person = people.by_email(session, PEOPLE[who])
            assert person
            return f"{self.url}/sign-in/{people.sign_in_link(session, person)}"


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """`attest serve --demo` with its worker, over a copy of the shipped problems."""
    data, folder = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("problems")
    shutil.copytree(ROOT / "problems", folder, dirs_exist_ok=True)
    settings = {"DATA": str(data), "PROBLEMS": str(folder), "RATES__REQUESTS": "100000"}
    environment = {**os.environ, **{f"ATTEST_{name}": value for name, value in settings.items()}}
    command = [Path(sys.executable).with_name("attest"), "serve", "--demo", "--port", "0"]
    with subprocess.Popen(
        command, env=environment, cwd=data, stdout=subprocess.PIPE, text=True
    ) as process:
        _wait_until_ready(process)
        told = json.loads((data / "serve.json").read_text())
        sessions = db.sessions(Settings(data=data))
        yield Service(told["url"], told["tokens"]["student"], sessions, folder)
        sessions.kw["bind"].dispose()
        process.send_signal(signal.SIGTERM)
        assert process.stdout
        process.stdout.read()


def _wait_until_ready(process: subprocess.Popen[str]) -> None:
    assert process.stdout
    told = []
    for line in process.stdout:
        told.append(line)
        if line.startswith("READY "):
            return
    pytest.fail("the service ended before it was ready:\n" + "".join(told))


@dataclass
class Watch:
    """What went wrong in the pages of one context. ``allowed`` are statuses that a test expects."""

    url: str
    wrong: list[str] = field(default_factory=list)
    allowed: set[int] = field(default_factory=set)

    def over(self, context: "BrowserContext") -> None:
        """Looks at every page of ``context`` from now on."""
        context.on("console", self._console)
        context.on("weberror", lambda error: self.wrong.append(f"exception: {error.error}"))
        context.on("request", self._request)
        context.on("dialog", lambda dialog: self.wrong.append(f"dialog: {dialog.message}"))

    def _console(self, message: "ConsoleMessage") -> None:
        expected = any(f"status of {status}" in message.text for status in self.allowed)
        if message.type in ("error", "warning") and not expected:
            self.wrong.append(f"console: {message.text}")

    def _request(self, request: "Request") -> None:
        if not request.url.startswith(self.url + "/"):
            self.wrong.append(f"request: {request.url}")


@pytest.fixture
def watch(service: Service) -> Iterator[Watch]:
    """Fails the test at its end if anything went wrong in a browser."""
    seen = Watch(service.url)
    yield seen
    assert seen.wrong == []


Open = Callable[..., "Page"]


@pytest.fixture
def open_page(browser: "Browser", service: Service, watch: Watch) -> Iterator[Open]:
    """A page in a browser of its own, with who is signed in, or nobody."""
    contexts = []

    def opened(who: str | None = None, path: str = "/", **options: Any) -> "Page":
        context = browser.new_context(base_url=service.url, **{"locale": "en-GB", **options})
        contexts.append(context)
        watch.over(context)
        page = context.new_page()
        if who:
            page.goto(service.sign_in_link(who))
            page.locator("main button").click()
            page.wait_for_url(service.url + "/")
        if path != "/" or not who:
            page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()


Submit = Callable[..., str]


@pytest.fixture
def submit(service: Service) -> Submit:
    """Sends a file of the student's over the API and waits for its report; the path of its page."""
    import httpx2

    def sent(code: str, name: str = "attention.py", problem: str = "s33-masked-attention") -> str:
        response = httpx2.post(
            f"{service.url}/api/v1/problems/{problem}/submissions?wait=30",
            headers={"Authorization": f"Bearer {service.token}"},
            files=[("file", (name, code.encode()))],
            timeout=PATIENCE_S,
        )
        assert response.status_code == 200, response.text
        return f"/submissions/{response.json()['id']}"

    return sent


def until(holds: Callable[[], bool], seconds: float = 20) -> None:
    """Waits until ``holds`` does."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.1)
