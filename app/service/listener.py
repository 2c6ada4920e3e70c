"""The socket that a server of ours listens on, and its address."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from app.errors import AttestError


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A listening socket; port 0 takes any free one. Raises AttestError where there is none."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol said, asyncio turns Nagle's algorithm off: else an answer may wait 40 ms.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen()
        except OSError as error:
            raise AttestError(
                f"cannot listen on {host} port {port}: {error.strerror}; "
                "--port 0 takes any free one"
            ) from error
        yield listener


def address(host: str, listener: socket.socket) -> str:
    """The address to open in a browser on this machine."""
    port = listener.getsockname()[1]
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - a place to click
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"
