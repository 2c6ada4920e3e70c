"""Places where tests kill the process, to show that nothing is lost there."""

import os
import signal


def failpoint(name: str) -> None:
    """Kills this process with SIGKILL if ``ATTEST_FAILPOINT`` lists ``NAME=FILE`` with this name.

    Entries are separated by commas. FILE is created first and must not exist: each entry kills
    once, and the file shows that it did.
    """
    for entry in os.environ.get("ATTEST_FAILPOINT", "").split(","):
        wanted, _, file = entry.partition("=")
        if wanted == name and _create(file):
            os.kill(os.getpid(), signal.SIGKILL)


def _create(file: str) -> bool:
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True
