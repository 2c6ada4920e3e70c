"""The student's side of the HTTP interface: send, wait, look. It knows no grading and no database.

What the server answers is kept as it came, so that an older client can show a newer report.
"""

import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2
from platformdirs import user_config_path
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.domain.words import Language
from app.errors import AttestError

DEFAULT_SERVER = "http://127.0.0.1:8000"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
FINAL = frozenset({"graded", "needs_review", "errored", "superseded", "cancelled"})

TRIES = 3
PAUSE_S = 1.0
TIMEOUT_S = 30.0
LONGEST_WAIT_S = 60.0  # that the server takes in one request

Answer = dict[str, Any]


class ServerRefused(AttestError):
    """The server answered with an error; ``details`` is its problem object."""

    def __init__(self, details: Mapping[str, Any]) -> None:
        self.details = details
        self.status = int(details.get("status", 500))
        super().__init__(str(details.get("detail") or details.get("title") or "an error"))


class Unreachable(AttestError):
    """No server answers at this address."""

    status = 503
    retry = True


@dataclass(frozen=True)
class Login:
    """Where to send and who one is."""

    server: str
    token: str


class _Environment(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="ATTEST_", extra="ignore")

    server: str | None = None
    token: str | None = None


class Client:
    """One server, asked with one token. A context manager. Raises AttestError for no token."""

    def __init__(self, login: Login, language: Language = "en") -> None:
        _require_token(login.token)
        self._server = server_address(login.server)
        self._http = httpx2.Client(
            base_url=f"{self._server}/api/v1",
            headers={"Authorization": f"Bearer {login.token}", "Accept-Language": language},
            timeout=TIMEOUT_S,
            # A proxy of the environment knows the way to the world, not to this machine.
            trust_env=urlsplit(self._server).hostname not in LOOPBACK,
        )

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def problems(self) -> list[Answer]:
        """The problems of one's courses."""
        items: list[Answer] = self._ask("GET", "/problems").json()["items"]
        return items

    def submit(self, problem: str, files: Mapping[str, bytes], wait_s: float = 0.0) -> Answer:
        """Sends files once, however often the connection breaks; the acceptance, or the report if
        it is final within ``wait_s``."""
        path = f"/problems/{quote(problem, safe='')}/submissions"
        answer = self._ask(
            "POST",
            path,
            files=[("file", (name, data)) for name, data in files.items()],
            params={"wait": min(wait_s, LONGEST_WAIT_S)},
            headers={"Idempotency-Key": str(uuid.uuid4())},
            timeout=TIMEOUT_S + wait_s,
        )
        found: Answer = answer.json()
        return found

    def report(self, submission: str) -> Answer:
        """The report of a submission, in any status."""
        found: Answer = self._ask("GET", f"/submissions/{quote(submission, safe='')}").json()
        return found

    def report_text(self, submission: str) -> str:
        """The report as text of 80 columns."""
        path = f"/submissions/{quote(submission, safe='')}"
        return self._ask("GET", path, headers={"Accept": "text/plain"}).text

    def submissions(self, limit: int = 20) -> Answer:
        """One's newest submissions."""
        found: Answer = self._ask("GET", "/submissions", params={"limit": limit}).json()
        return found

    def wait(self, submission: str, wait_s: float) -> Answer:
        """The report once it is final. Raises AttestError if that takes longer."""
        deadline = time.monotonic() + wait_s
        while (report := self.report(submission))["status"] not in FINAL:
            if time.monotonic() > deadline:
                raise AttestError(
                    f"{submission} is still {report['status']} after {wait_s:.0f} s; "
                    f"`attest status {submission}` tells later"
                )
            time.sleep(PAUSE_S)
        return report

    def _ask(self, method: str, path: str, **request: Any) -> httpx2.Response:
        """Asks until an answer comes, three times at most; what is sent twice is stored once."""
        for left in reversed(range(TRIES)):
            try:
                answer = self._http.request(method, path, **request)
            except httpx2.TransportError as error:
                if not left:
                    raise Unreachable(f"{self._server} does not answer: {error}") from error
                time.sleep(PAUSE_S)
                continue
            if answer.is_success:
                return answer
            raise ServerRefused(_details(answer))
        raise AssertionError


def _details(answer: httpx2.Response) -> Mapping[str, Any]:
    if answer.headers.get("content-type", "").startswith("application/problem+json"):
        found: Mapping[str, Any] = answer.json()
        return found
    return {
        "type": "about:blank",
        "title": answer.reason_phrase,
        "status": answer.status_code,
        "detail": f"{answer.url} answered {answer.status_code}, and not as Attest does",
        "errors": [],
    }


def _require_token(token: str) -> None:
    # It is not repeated: this may be a real one with a slip of the hand.
    if not token.isascii() or not token.isprintable() or " " in token:
        raise AttestError("the token has characters that no token has; expected att_ and 43 others")


def server_address(server: str) -> str:
    """The address without a slash at its end. Raises AttestError for one that is no address."""
    try:
        parts = urlsplit(server)
        usable = parts.scheme in {"http", "https"} and parts.hostname
    except ValueError:
        usable = None
    if not usable:
        raise AttestError(f"the server is {server!r}; expected an address such as {DEFAULT_SERVER}")
    return server.rstrip("/")


# Who one is


def login_file() -> Path:
    """Where ``attest login`` keeps server and token."""
    return user_config_path("attest") / "login.json"


def save_login(login: Login) -> Path:
    """Keeps server and token, readable by this user alone."""
    path = login_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text(json.dumps({"server": login.server, "token": login.token}) + "\n")
    return path


def find_login(server: str | None = None, token: str | None = None) -> Login:
    """Server and token: given, else from the environment, else kept by ``attest login``.

    A kept token is sent to its own server alone. Raises AttestError if there is no token.
    """
    environment, kept = _Environment(), _kept()
    found = server or environment.server or (kept.server if kept else DEFAULT_SERVER)
    secret = token or environment.token
    if not secret and kept and kept.server == server_address(found):
        secret = kept.token
    if not secret:
        raise AttestError(f"no token for {found}; run `attest login` or set ATTEST_TOKEN")
    return Login(server_address(found), secret)


def _kept() -> Login | None:
    try:
        kept = json.loads(login_file().read_text())
        return Login(str(kept["server"]), str(kept["token"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AttestError(f"{login_file()} cannot be read; run `attest login` again") from error
