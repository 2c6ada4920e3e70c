"""What every part of the tests may ask for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.errors import SandboxUnavailable
from app.sandbox.sandbox import Sandbox


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of ground truth and example submissions beside the checkout."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip(f"no ground truth on this machine: {folder} does not exist")
    return folder


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """A real sandbox with two slots, started once."""
    try:
        started = Sandbox(slots=2)
    except SandboxUnavailable as refusal:
        pytest.skip(str(refusal))
    with started:
        yield started
