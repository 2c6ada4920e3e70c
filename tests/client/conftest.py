"""The program as a student runs it, against a real service."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.service.conftest import ATTEST, DEADLINE_S, Service, new_service

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A demo service that runs for all tests of a module."""
    made = new_service(tmp_path_factory.mktemp("service"))
    made.start("--demo")
    yield made
    made.stop()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home where nobody logged in yet."""
    return tmp_path


@pytest.fixture
def attest(home: Path) -> Run:
    """Runs a command in that home; keywords become the environment's ATTEST_ variables."""

    def run(*arguments: str, typed: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("ATTEST_")}
        own = {f"ATTEST_{name.upper()}": value for name, value in settings.items()}
        return subprocess.run(
            [ATTEST, *arguments],
            env={**inherited, "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), **own},
            input=typed,
            cwd=home,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
        )

    return run
