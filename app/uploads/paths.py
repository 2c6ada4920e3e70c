"""Names of files as they may be kept: relative paths with / between folders."""

import re
import unicodedata
from pathlib import PurePath

NAME_LIMIT = 200
"""Bytes of one part of a path; file systems take 255."""
PATH_LIMIT = 400
"""Bytes of a whole path."""
DEPTH_LIMIT = 8
"""Folders that a file may lie in, one inside the other."""

_DRIVE = re.compile("[A-Za-z]:")


def is_plain(path: str) -> bool:
    """Whether ``path`` leads only downwards, is not too long or too deep, and can be shown: no
    absolute path, drive letter, backslash, empty or dotted part, control or direction character."""
    # By composing, four characters at most become one; of a very long path it takes seconds.
    if len(path) > 4 * PATH_LIMIT:
        return False
    if not _can_be_shown(path) or "\\" in path or _DRIVE.match(path):
        return False
    path = unicodedata.normalize("NFC", path)  # as it is kept; it may be longer so
    parts = path.split("/")
    return (
        len(parts) <= DEPTH_LIMIT + 1
        and len(path.encode()) <= PATH_LIMIT
        and all(part.replace(".", "").strip() for part in parts)
        and all(len(part.encode()) <= NAME_LIMIT for part in parts)
    )


def _can_be_shown(path: str) -> bool:
    # The spaces that are no U+0020, as in the names of screenshots, count as not printable.
    return all(c.isprintable() or unicodedata.category(c) == "Zs" for c in path)


def same(path: str) -> str:
    """What two paths have in common that some file system would take for one."""
    folded = unicodedata.normalize("NFKC", path).casefold()
    return unicodedata.normalize("NFKC", folded)


def depth(path: str) -> int:
    """How many folders ``path`` leads into."""
    return path.count("/")


def ending(path: str) -> str:
    """What kind of file it is: ``.PY`` of an old system is ``.py``."""
    return PurePath(path).suffix.lower()
