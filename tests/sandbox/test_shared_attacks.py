"""Hostile submissions kept beside the checkout, graded like any other, with canaries about.

Each is graded disarmed (it then is a right answer) and armed, and after it an honest one.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest

from app.catalogue.problem_file import read_problem
from app.domain.outcome import Outcome
from app.domain.submission import Submission
from app.grading.grade import grade
from tests.sandbox.test_lifecycle import descendants

PROBLEM = Path(__file__).parents[1] / "problem_files" / "sdpa.yaml"
FULL_MARKS = 17
PORT = 18765
SECONDS = 15  # the problem's limit and 5 s more

FAILS_TO_LOAD = {Outcome.LOAD_ERROR}
ENDS = {
    # Score where it is certain, and the outcomes that failing checks may have.
    "01": (17, set()),
    "03": (17, set()),
    "05": (17, set()),  # its file catches the MemoryError
    "07": (0, {Outcome.TIMED_OUT}),
    "09": (0, {Outcome.TIMED_OUT}),
    "10": (0, FAILS_TO_LOAD | {Outcome.CRASHED}),
    "12": (0, None),
    "14": (4, None),  # zeros of the right shape, every time the same
    "16": (0, None),
    "18": (None, {Outcome.CRASHED}),
    "20": (0, None),
    "24": (
        None,
        {
            Outcome.RAISED,
            Outcome.CRASHED,
            Outcome.OUT_OF_MEMORY,
            Outcome.LOAD_ERROR,
            Outcome.TIMED_OUT,
        },
    ),
    "26": (None, {Outcome.RAISED}),
    "28": (17, set()),
    "30": (17, set()),
    # fork is refused and its file does not expect that
    "32": (0, FAILS_TO_LOAD),
    "34": (17, set()),
    "36": (0, FAILS_TO_LOAD | {Outcome.CRASHED}),
    "39": (None, {Outcome.LOAD_ERROR}),
    "41": (None, {Outcome.LOAD_ERROR}),
}


@pytest.fixture(scope="module")
def attacks(shared) -> Path:
    return shared / "attacks"


@pytest.fixture(scope="module")
def canary(tmp_path_factory):
    """In the environment, beside the grader's code, in a hidden case and a neighbour's folder."""
    text = f"PROBE-CANARY-{uuid.uuid4().hex}"
    beside = Path(__file__).parent / "probe_canary.txt"
    neighbour = tmp_path_factory.mktemp("neighbour") / "submission.py"
    for file in (beside, neighbour):
        file.write_text(text)
    os.environ["PROBE"] = text
    yield text
    del os.environ["PROBE"]
    beside.unlink()


@pytest.fixture(scope="module")
def listener():
    """The connections that a listener on the agreed port got."""
    met = []
    server = socket.create_server(("127.0.0.1", PORT), reuse_port=True)

    def accept():
        while True:
            try:
                met.append(server.accept())
            except OSError:
                return

    thread = threading.Thread(target=accept)
    thread.start()
    yield met
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join()


@pytest.fixture(scope="module")
def problem(canary):
    text = PROBLEM.read_text().replace("written for the tests", canary)
    return read_problem(PROBLEM, text.encode()).problem


def graded(problem, walled, code: bytes):
    return grade(problem, Submission(files={"submission.py": code}), walled, seed=7)


def armed(attacks: Path, number: str, folder: Path) -> bytes:
    command = [sys.executable, attacks / "arm.py", number, folder]
    subprocess.run(command, check=True, capture_output=True)
    return (folder / "submission.py").read_bytes()


def outside(walled) -> tuple[set[str], int]:
    """Files where a job could have left some, and the processes of the sandbox."""
    left = {
        str(p) for place in ("/tmp", "/var/tmp", "/dev/shm") for p in Path(place).glob("PROBE*")
    }
    return left, len(descendants(walled._jail._process.pid))


@pytest.mark.parametrize("number", ENDS)
def test_a_hostile_submission_gets_what_its_answers_deserve(
    walled, attacks, number, problem, canary, listener, tmp_path
):
    (file,) = attacks.glob(f"{number}-*.py")
    assert graded(problem, walled, file.read_bytes()).score == FULL_MARKS
    before = outside(walled)
    free = shutil.disk_usage("/tmp").free
    began = time.monotonic()
    result = graded(problem, walled, armed(attacks, number, tmp_path))
    assert time.monotonic() - began < SECONDS
    score, outcomes = ENDS[number]
    failing = {check.outcome for check in result.checks} - {Outcome.PASSED}
    if score is not None:
        assert result.score == score, failing
    if outcomes is not None:
        assert failing <= outcomes, failing
    if score != FULL_MARKS and outcomes is None:
        values = {check.id for check in problem.checks if check.kind == "values"}
        assert not values & {c.id for c in result.checks if c.outcome is Outcome.PASSED}
    assert canary not in result.printed + result.printed_hidden + repr(result.checks)
    victim = graded(problem, walled, (attacks / "victim.py").read_bytes())
    assert victim.score == FULL_MARKS
    assert "PROBE-" not in victim.printed + victim.printed_hidden
    assert outside(walled) == before
    assert abs(shutil.disk_usage("/tmp").free - free) < 1 << 28
    assert listener == []


@pytest.mark.parametrize(
    "content",
    [
        b"x = " + b"(" * 100_000 + b")" * 100_000,
        b"x = 'a' * 10**9 * 10**9",
        b"x = (1,) * 10**9",
        b"x = " + b"[" * 20_000,
        b"if 1:\n " + b"if 1: " * 5000,
        b"\n".join(b"def f%d(): pass" % n for n in range(200_000)),
        b"lambda: " * 20_000 + b"1",
        b"x = 0x" + b"f" * 4_000_000,
    ],
    ids=[
        "parentheses",
        "folding",
        "tuple",
        "open brackets",
        "ifs",
        "functions",
        "lambdas",
        "digits",
    ],
)
def test_a_source_that_is_a_bomb_ends_as_a_file_that_cannot_be_loaded(walled, problem, content):
    """Only the sandbox ever parses a student's source, so the service needs no further limit."""
    result = graded(problem, walled, content)
    assert result.score == 0
    assert {check.outcome for check in result.checks} <= {
        Outcome.LOAD_ERROR,
        Outcome.OUT_OF_MEMORY,
        Outcome.TIMED_OUT,
        Outcome.NOT_DEFINED,
        Outcome.NOT_RUN,
    }


def test_every_attack_has_a_fair_end(attacks):
    assert {file.name[:2] for file in attacks.glob("[0-9]*.py")} == set(ENDS)


def test_a_memory_bomb_is_stopped_at_its_limit(walled, attacks, problem, tmp_path):
    result = graded(problem, walled, armed(attacks, "05", tmp_path))
    (stopped,) = re.findall(r"stopped at (\d+) MiB", result.printed)
    assert int(stopped) <= 512
