"""Locks between processes: one holder, who is named; gone with its process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.errors import AlreadyRunning
from app.lock import held

HOLDER = """
import os, sys
from pathlib import Path
from app.lock import held
with held(Path(sys.argv[1]), "a test"):
    if os.fork() == 0:  # a child that lives on, as a sandbox may
        sys.stdin.read()
        os._exit(0)
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_second_process_is_told_who_holds_the_lock(tmp_path, holder):
    with (
        pytest.raises(AlreadyRunning, match=f"a test runs already .*process {holder.pid}"),
        held(tmp_path / "lock", "a test"),
    ):
        pass


def test_a_lock_goes_with_its_process_even_if_a_child_lives_on(tmp_path, holder):
    holder.kill()
    holder.wait()
    with held(tmp_path / "lock", "a test", wait_s=10):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"
