"""What every part of the tests may ask for."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of ground truth and example submissions beside the checkout."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip(f"no ground truth on this machine: {folder} does not exist")
    return folder
