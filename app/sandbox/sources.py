"""Whether a Python file is text in its encoding, before Python reads it: some versions do not look
inside comments, and none says where it is not. In the child."""

import re

BOM = b"\xef\xbb\xbf"

_STATED = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_PASSED_OVER = re.compile(rb"[ \t\f]*(?:#.*)?")


class NotText(SyntaxError):
    """A file that is not text in its encoding, which is the message; from which line on."""


def check_text(path: str, data: bytes) -> None:
    """Raises NotText where ``data`` is not text in the encoding that it states, or in UTF-8."""
    encoding = _stated_encoding(data)
    try:
        data.decode(encoding)
        start = data.find(b"\0")  # every second byte of plain letters in UTF-16
    except UnicodeDecodeError as error:
        start = error.start
    except (LookupError, UnicodeError):
        return  # Python has its own words for an encoding that it does not know
    if start >= 0:
        line = len(data[: start + 1].splitlines())
        raise NotText(encoding, (path, line, None, None))


def _stated_encoding(data: bytes) -> str:
    """What a comment in one of the first two lines says (PEP 263)."""
    for line in data.removeprefix(BOM).splitlines()[:2]:
        if stated := _STATED.match(line):
            return stated[1].decode()
        if not _PASSED_OVER.fullmatch(line):
            break
    return "UTF-8"
