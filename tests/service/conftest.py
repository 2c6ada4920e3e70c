"""The real service as a process of its own: started, asked over HTTP, killed, started again."""

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import select

from app import db
from app.catalogue.proofs import write_proofs
from app.db import Sessions, snapshot
from app.errors import SandboxUnavailable
from app.models import Result, Run, Submission, Worker
from app.sandbox.probe import Level, require
from app.settings import Settings

DEADLINE_S = 90
CODE, SHEET = "s33-masked-attention", "s34-a1-masked"
PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
ATTEST = str(Path(sys.executable).with_name("attest"))
SLOW = b"import time\ntime.sleep(1)\n"


def wait_for(condition: Callable[[], Any], what: str) -> Any:
    """The first true value of ``condition``."""
    deadline = time.monotonic() + DEADLINE_S
    while not (found := condition()):
        assert time.monotonic() < deadline, f"{what} did not happen in time"
        time.sleep(0.02)
    return found


@dataclass
class Service:
    """``attest serve`` on a data folder that outlives it."""

    data: Path
    problems: Path
    process: subprocess.Popen[str] | None = None
    output: list[str] = field(default_factory=list)
    sessions: Sessions | None = None

    def start(self, *flags: str, failpoint: str = "", wait: str = "READY") -> None:
        """Starts it, and returns when a line with ``wait`` was printed."""
        self.process = subprocess.Popen(
            [ATTEST, "serve", "--port", "0", *flags],
            env={**os.environ, **self.environment(), "ATTEST_FAILPOINT": failpoint},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
        )
        self.output = []
        lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, args=(self.process, lines), daemon=True).start()
        deadline = time.monotonic() + DEADLINE_S
        while (line := lines.get(timeout=deadline - time.monotonic())) is not None:
            if wait in line:
                break
        else:
            pytest.fail("the service ended early:\n" + "".join(self.output))
        self.sessions = self.sessions or db.sessions(self.settings)

    def _read(self, process: subprocess.Popen[str], lines: "queue.Queue[str | None]") -> None:
        assert process.stdout
        with process.stdout as stream:
            for line in stream:
                self.output.append(line)
                lines.put(line)
        lines.put(None)

    def environment(self) -> dict[str, str]:
        return {"ATTEST_DATA": str(self.data), "ATTEST_PROBLEMS": str(self.problems)}

    @property
    def settings(self) -> Settings:
        return Settings(data=self.data, problems=self.problems)

    @property
    def told(self) -> dict[str, Any]:
        """What ``serve.json`` says."""
        found: dict[str, Any] = json.loads((self.data / "serve.json").read_text())
        return found

    def client(self, role: str = "student") -> httpx2.Client:
        headers = {"Authorization": f"Bearer {self.told['tokens'][role]}"}
        return httpx2.Client(
            base_url=self.told["url"], headers=headers, timeout=DEADLINE_S, trust_env=False
        )

    def post(self, code: bytes, **more: Any) -> httpx2.Response:
        with self.client() as client:
            path = f"/api/v1/problems/{CODE}/submissions"
            return client.post(path, files={"file": ("attention.py", code)}, **more)

    def kill(self) -> None:
        """SIGKILL to the process that holds the API."""
        assert self.process
        self.process.kill()
        self.process.wait(DEADLINE_S)

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Another command of the program on the same data."""
        return subprocess.run(
            [ATTEST, *arguments],
            env={**os.environ, **self.environment()},
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
        )

    def end(self, number: int = signal.SIGTERM) -> int:
        """Tells it to end; its exit code."""
        assert self.process
        self.process.send_signal(number)
        return self.process.wait(DEADLINE_S)

    # What the database says

    def rows(self, statement: Any) -> list[Any]:
        assert self.sessions
        with snapshot(self.sessions) as session:
            return list(session.scalars(statement))

    def worker(self) -> int | None:
        """The process id of the warm worker."""
        pids = self.rows(select(Worker.pid).where(Worker.warm_since.is_not(None)))
        return pids[0] if pids else None

    def run(self, submission_id: str) -> Run:
        (run,) = self.rows(select(Run).where(Run.submission_id == submission_id))
        return run

    def graded_once(self, submission_id: str) -> Run:
        """Waits for the end of the run, which must be a score with one result for each check."""
        final = ("graded", "errored", "superseded", "cancelled")
        wait_for(lambda: self.run(submission_id).status in final, "the end of the run")
        run = self.run(submission_id)
        assert run.status == "graded", run.error
        results = self.rows(select(Result.check_id).where(Result.run_id == run.id))
        assert len(results) == len(set(results)) == 6
        return run

    def submissions(self) -> list[str]:
        """Ids of what the demo's student sent."""
        with self.client() as client:
            items = client.get("/api/v1/submissions").json()["items"]
        return [item["id"] for item in items]

    def stored(self) -> int:
        return len(self.rows(select(Submission.id)))

    def stop(self) -> None:
        """Whatever happened, nothing stays behind."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(DEADLINE_S)
        if self.sessions:
            self.sessions.kw["bind"].dispose()


def new_service(folder: Path) -> Service:
    try:
        require(Level.LANDLOCK)
    except SandboxUnavailable as refusal:
        pytest.skip(str(refusal))
    problems = folder / "problems"
    for name in (f"masks/{CODE}.yaml", f"assignment1/{SHEET}.yaml"):
        (problems / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROBLEMS / name, problems / name)
    hashes = {p.stem: sha256(p.read_bytes()).hexdigest() for p in problems.glob("*/*.yaml")}
    write_proofs(problems, hashes)
    return Service(folder / "data", problems)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service that is not started yet, on a data folder of its own."""
    made = new_service(tmp_path)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A demo service that runs for all tests of a module; none may break it for the others."""
    made = new_service(tmp_path_factory.mktemp("service"))
    made.start("--demo", "--slots", "2")
    yield made
    made.stop()
