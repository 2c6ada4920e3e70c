"""The ground truth, read into arrays, and random inputs with distinct prime sizes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Truth = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="session")
def truth(shared: Path) -> Truth:
    """``truth("09")`` is the file whose name starts with 09, its lists turned into arrays."""

    def read(number: str) -> dict[str, Any]:
        (path,) = (shared / "truth").glob(f"{number}_*.json")
        return decoded(json.loads(path.read_text(encoding="utf-8")))

    return read


def decoded(stored: Any) -> Any:
    """Numbers and "nan", "inf", "-inf" as floats; rectangular lists of numbers as arrays."""
    if isinstance(stored, dict):
        return {key: decoded(value) for key, value in stored.items()}
    if isinstance(stored, list):
        return as_array(stored)
    if isinstance(stored, str):
        return as_number(stored)
    return stored


def as_array(stored: list[Any]) -> Any:
    members = [decoded(member) for member in stored]
    if any(isinstance(member, str | dict | type(None)) for member in members):
        return members
    if any(isinstance(member, list) for member in members):
        return members
    return np.array(members) if len({np.shape(m) for m in members}) == 1 else members


def as_number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20170612)
