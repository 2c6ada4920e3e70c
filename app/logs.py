"""What a process tells its operator: one line for each event, on stderr."""

import logging
import sys


class OneLine(logging.Formatter):
    """Names and messages on one line: what a request brought cannot begin a line of its own."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        text = super().formatMessage(record)
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def to_stderr() -> None:
    """Sends all logging of this process there, with plain traces that show no variable."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine("%(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.getLogger("watchfiles").setLevel(logging.WARNING)
    # What it has to say of a broken body is told to who sent it.
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)
