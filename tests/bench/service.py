"""The service against what it cannot do without: one grading, and one durable insert."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import httpx2

from app.catalogue.folder import find_problem
from app.domain.problem import CodeProblem
from app.domain.submission import Submission
from app.grading.grade import grade_code
from app.sandbox.sandbox import Sandbox
from tests.bench.row import Row, median, seconds

PROBLEM = "s33-masked-attention"
NAME = "right.py"
ROUNDS = 60
POSTS = 300
SENDERS = 4

BARE = """
import sqlite3, sys, threading, uvicorn
from fastapi import FastAPI, Request

local = threading.local()

def rows():
    if not hasattr(local, "rows"):
        local.rows = sqlite3.connect(sys.argv[1], isolation_level=None)
        local.rows.execute("PRAGMA synchronous=FULL")
    return local.rows

app = FastAPI()

def insert(data):
    rows().execute("INSERT INTO submission (data) VALUES (?)", (data,))

@app.post("/")
async def post(request: Request):
    from starlette.concurrency import run_in_threadpool
    await run_in_threadpool(insert, await request.body())
    return {"accepted": True}

server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", access_log=False))
import asyncio
async def main():
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    print(server.servers[0].sockets[0].getsockname()[1], flush=True)
    await task
asyncio.run(main())
"""


def rows() -> list[Row]:
    """End to end against in process, and accepted posts against bare inserts."""
    return [*_end_to_end(), _accepting()]


def _end_to_end() -> Iterator[Row]:
    problem = find_problem(PROBLEM, Path("problems")).problem
    assert isinstance(problem, CodeProblem)
    data = (files("app.demo") / NAME).read_bytes()
    submission = Submission(files={NAME: data})
    with _attest() as post, Sandbox() as sandbox:
        for _ in range(5):
            post(NAME, data, "?wait=20")
        over_http, in_process = [], []
        for seed in range(ROUNDS):
            over_http.append(seconds(lambda: post(NAME, data, "?wait=20")))
            in_process.append(seconds(lambda: grade_code(problem, submission, sandbox, seed)))  # noqa: B023
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        http, own = (_quantile(times, share) for times in (over_http, in_process))
        yield Row(
            f"POST to report / the same grading in process, {name}",
            1.5,
            http / own,
            detail=f"{http:.1f} ms against {own:.1f} ms, {ROUNDS} of each",
        )


def _quantile(times: list[float], share: float) -> float:
    if share == 0.5:
        return median(times)
    return sorted(times)[min(len(times) - 1, int(share * len(times)))] * 1000


def _accepting() -> Row:
    data = (files("app.demo") / NAME).read_bytes()
    with _attest("--no-worker") as attest, _bare() as bare:
        own, floor = (
            _per_second(lambda: attest(NAME, data, "")),
            _per_second(lambda: bare(NAME, data, "")),
        )
    return Row(
        "accepted posts per second / bare FastAPI with one durable insert",
        0.3,
        own / floor,
        at_least=True,
        detail=f"{own:.0f}/s against {floor:.0f}/s, {SENDERS} senders",
    )


def _per_second(post: Callable[[], object]) -> float:
    def send() -> None:
        for _ in range(POSTS // SENDERS):
            post()

    def all_send() -> None:
        senders = [threading.Thread(target=send) for _ in range(SENDERS)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()

    send()
    return POSTS / seconds(all_send)


Post = Callable[[str, bytes, str], object]


@contextmanager
def _attest(*flags: str) -> Iterator[Post]:
    """A real service with a demo course and without rate limits."""
    with tempfile.TemporaryDirectory() as folder:
        many = str(10**9)
        environment = {
            **os.environ,
            "ATTEST_DATA": folder,
            "ATTEST_RATES__REQUESTS": many,
            "ATTEST_RATES__POSTS": many,
        }
        command = [Path(sys.executable).with_name("attest"), "serve", "--demo", "--port", "0"]
        with subprocess.Popen(
            [*command, *flags], env=environment, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout
            while not process.stdout.readline().startswith("READY"):
                assert process.poll() is None
            told = json.loads((Path(folder) / "serve.json").read_text())
            headers = {"Authorization": f"Bearer {told['tokens']['student']}"}
            url = f"{told['url']}/api/v1/problems/{PROBLEM}/submissions"
            with httpx2.Client(headers=headers, timeout=60) as client:
                yield lambda name, data, query: client.post(
                    url + query, files={"file": (name, data)}
                ).raise_for_status()
            process.send_signal(signal.SIGTERM)


@contextmanager
def _bare() -> Iterator[Post]:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "bare.db")
        with sqlite3.connect(path) as rows:
            rows.execute("PRAGMA journal_mode=WAL")
            rows.execute("CREATE TABLE submission (id INTEGER PRIMARY KEY, data BLOB)")
        command = [sys.executable, "-c", BARE, path]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            url = f"http://127.0.0.1:{int(process.stdout.readline())}/"
            with httpx2.Client(timeout=60) as client:
                yield lambda name, data, query: client.post(
                    url, files={"file": (name, data)}
                ).raise_for_status()
            process.kill()
