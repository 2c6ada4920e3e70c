"""The client where the connection is not to be relied on."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from app import client
from app.client import Client, Login, ServerRefused, Unreachable, server_address
from app.errors import AttestError

ACCEPTED = {"id": "1", "status": "queued"}


class Unsteady(BaseHTTPRequestHandler):
    """Breaks the connection as often as it is told to, then accepts."""

    breaks = 0
    seen: list[dict[str, str]]
    status, answer, kind = 202, json.dumps(ACCEPTED), "application/json"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append(dict(self.headers))
        if len(self.seen) <= self.breaks:
            self.close_connection = True
            return
        self.send_response(self.status)
        self.send_header("Content-Type", self.kind)
        self.send_header("Content-Length", str(len(self.answer)))
        self.end_headers()
        self.wfile.write(self.answer.encode())

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def unsteady(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[type[Unsteady], Client]]:
    """Such a server, and a client that does not pause."""
    monkeypatch.setattr(client, "PAUSE_S", 0.0)
    handler = type("Handler", (Unsteady,), {"seen": []})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        with Client(Login(f"http://127.0.0.1:{server.server_port}", "secret")) as asking:
            yield handler, asking
        server.shutdown()
        thread.join()


def test_a_broken_connection_is_tried_again_under_the_same_key(
    unsteady: tuple[type[Unsteady], Client],
) -> None:
    handler, asking = unsteady
    handler.breaks = 2
    assert asking.submit("p", {"a.py": b"x"}) == ACCEPTED
    assert len(handler.seen) == 3
    assert len({seen["Idempotency-Key"] for seen in handler.seen}) == 1


def test_after_three_broken_connections_the_server_is_named(
    unsteady: tuple[type[Unsteady], Client],
) -> None:
    handler, asking = unsteady
    handler.breaks = 3
    with pytest.raises(Unreachable, match=r"http://127\.0\.0\.1:\d+ does not answer"):
        asking.submit("p", {"a.py": b"x"})
    assert len(handler.seen) == 3


def test_what_is_no_answer_of_ours_is_told_as_such(
    unsteady: tuple[type[Unsteady], Client],
) -> None:
    handler, asking = unsteady
    handler.status, handler.answer, handler.kind = 502, "<h1>Bad Gateway</h1>", "text/html"
    with pytest.raises(ServerRefused, match="answered 502, and not as Attest does") as refused:
        asking.submit("p", {"a.py": b"x"})
    assert refused.value.details["status"] == 502


@pytest.mark.parametrize(
    "server", ["", "localhost:8000", "ftp://x", "http://", "http://[", "file:///"]
)
def test_what_is_no_address_is_refused(server: str) -> None:
    with pytest.raises(AttestError, match="expected an address"):
        server_address(server)


@pytest.mark.parametrize("token", ["att_é", "att_\n", "two words"])
def test_what_is_no_token_is_refused_without_repeating_it(token: str) -> None:
    with pytest.raises(AttestError, match="characters that no token has") as refusal:
        Client(Login("http://127.0.0.1:1", token))
    assert token not in str(refusal.value)


def test_a_login_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "login_file", lambda: tmp_path / "login.json")
    monkeypatch.delenv("ATTEST_TOKEN", raising=False)
    for text in ("", "[]", '{"server": "x"}'):
        (tmp_path / "login.json").write_text(text)
        with pytest.raises(AttestError, match="run `attest login` again"):
            client.find_login()


def test_a_students_commands_load_no_server_and_no_grading() -> None:
    script = (
        "import sys, app.cli.login, app.cli.submit, app.cli.status\n"
        "bad = ('numpy', 'torch', 'sqlalchemy', 'fastapi', 'reference', 'app.grading')\n"
        "print([m for m in sys.modules if m.startswith(bad)])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr
