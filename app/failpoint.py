"""Places where tests kill the process, to show that nothing is lost there."""

import os
import signal


def failpoint(name: str) -> None:
    """Kills this process with SIGKILL if ``ATTEST_FAILPOINT`` is ``NAME=FILE`` with this name.

    FILE is created first and must not exist: each file kills once and shows that it did.
    """
    wanted, _, file = os.environ.get("ATTEST_FAILPOINT", "").partition("=")
    if wanted != name:
        return
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)
