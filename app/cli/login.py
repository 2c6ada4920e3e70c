"""``attest login``: keep a server and a token for the commands that send."""

import sys
from getpass import getpass

from app.client import DEFAULT_SERVER, Client, Login, save_login, server_address


def run(server: str | None, token: str | None) -> int:
    """Asks the server whether it knows the token, and keeps both. Returns 0."""
    address = server_address(server or DEFAULT_SERVER)
    login = Login(address, token or _asked())
    with Client(login) as client:
        count = len(client.problems())
    print(f"{address} knows you and shows {count} problems; kept in {save_login(login)}")
    return 0


def _asked() -> str:
    return getpass("Token: ").strip() if sys.stdin.isatty() else sys.stdin.readline().strip()
