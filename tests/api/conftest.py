"""What is sent to the API in its tests."""

from collections.abc import Callable
from importlib.resources import files

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

PROBLEM = "s33-masked-attention"

Send = Callable[..., Response]


@pytest.fixture(scope="session")
def right() -> bytes:
    """A submission with full marks."""
    return (files("app.demo") / "right.py").read_bytes()


@pytest.fixture(scope="session")
def wrong() -> bytes:
    """A submission that applies the mask after softmax."""
    return (files("app.demo") / "mask_after_softmax.py").read_bytes()


@pytest.fixture
def send(right: bytes) -> Send:
    """Posts files to s33-masked-attention; by default one right file."""

    def post(client: TestClient, *names: str, code: bytes = right, **more: object) -> Response:
        sent = [("file", (name, code)) for name in names or ("attention.py",)]
        query = {"wait": more.pop("wait")} if "wait" in more else {}
        return client.post(
            f"/api/v1/problems/{PROBLEM}/submissions", files=sent, params=query, **more
        )

    return post
