"""What a grading is measured against: bare forks of a warm process, and a cold interpreter."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from tests.bench.row import seconds


class BareFork:
    """Times single forks of a process as warm and as large as the sandbox's."""

    def __init__(self, to: IO[str], answers: IO[str]) -> None:
        self._to = to
        self._answers = answers
        assert answers.readline() == "warm\n"

    def seconds(self) -> float:
        self._to.write("\n")
        self._to.flush()
        return float(self._answers.readline())


@contextmanager
def bare_fork() -> Iterator[BareFork]:
    """A warm process beside the sandbox's, so that both are timed in turn under the same load."""
    command = [sys.executable, "-m", "tests.bench.bare_fork"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin
        assert process.stdout
        yield BareFork(process.stdin, process.stdout)
        process.stdin.close()


def cold_import() -> float:
    """Seconds of a fresh interpreter that imports torch and ends."""
    command = [sys.executable, "-c", "import torch"]
    return seconds(lambda: subprocess.run(command, check=True))
