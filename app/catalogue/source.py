"""The text of one YAML file with the place of every value in it."""

import re
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import Event, ScalarEvent
from ruamel.yaml.parser import RoundTripParser

from app.errors import Place, ProblemFileError

SIZE_LIMIT = 256 * 1024
DEPTH_LIMIT = 40

HINTS = {
    "mapping values are not allowed": "; a text that holds a colon stands in quotes or below `|`",
    "character '\\t'": ", a tab; indent with spaces",
}
"""What is meant by sentences of the parser, by a part of each."""

Location = tuple[str | int, ...]


@dataclass(frozen=True)
class Source:
    """A parsed YAML file: ``tree`` in plain Python values, and where each came from."""

    path: str
    tree: object
    nodes: object  # ruamel's round-trip tree, which knows lines and columns

    def place(self, location: Location, message: str, *, key: bool = False) -> Place:
        """The place of the value at ``location``, or of its key, with ``message``.

        Steps that the file does not have (a union's tag, a missing key) are passed over, so the
        nearest enclosing value is named.
        """
        line, column = _position(self.nodes, location, key)
        return Place(self.path, line + 1, column + 1, message)


def read_source(path: Path, data: bytes | None = None) -> Source:
    """Reads ``path`` (or ``data``, naming ``path`` in errors).

    Raises ProblemFileError for a file over 256 kB, text that is not UTF-8, broken YAML,
    duplicate keys, anchors, aliases, merge keys, tags and documents nested deeper than 40.
    """
    name = str(path)
    data = read_bytes(path) if data is None else data
    text = _text(name, data)
    nodes = _load(name, text)
    return Source(name, _plain(nodes), nodes)


def read_bytes(path: Path) -> bytes:
    """The bytes of a problem file, of a larger one the first that are too many.

    Raises ProblemFileError for a file that cannot be read, and for what is no file: to open a pipe
    would wait for somebody to write into it.
    """
    try:
        if path.exists() and not path.is_file():
            raise _error(str(path), 0, 0, "this is no plain file")
        with path.open("rb") as file:
            return file.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise _error(str(path), 0, 0, f"the file cannot be read: {error.strerror}") from error


def _text(name: str, data: bytes) -> str:
    if len(data) > SIZE_LIMIT:
        raise _error(name, 0, 0, f"the file has more than {SIZE_LIMIT} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n")
        raise _error(name, line, 0, "the file is not UTF-8 text; save it as UTF-8") from error


class _NotAllowed(MarkedYAMLError):
    """What no problem needs and what could make a small file huge or deep."""


class _StrictParser(RoundTripParser):
    """Looks at each event on its way to the tree, so that the text is read once."""

    depth = 0

    def get_event(self) -> Event:
        """The next event. Raises _NotAllowed."""
        event: Event = super().get_event()
        step = type(event).__name__
        self.depth += step.endswith("StartEvent") - step.endswith("EndEvent")
        reason = _reason(event)
        if self.depth > DEPTH_LIMIT:
            reason = f"nested deeper than {DEPTH_LIMIT} levels"
        if reason:
            raise _NotAllowed(problem=reason, problem_mark=event.start_mark)
        return event


def _reason(event: Event) -> str | None:
    if getattr(event, "anchor", None):
        return "anchors and aliases (& and *) are not allowed"
    if isinstance(event, ScalarEvent) and event.value == "<<" and not event.style:
        return "merge keys (<<) are not allowed"
    tag = getattr(event, "tag", None)
    return f"the tag {tag} is not allowed" if tag else None


def _load(name: str, text: str) -> object:
    yaml = YAML(typ="rt", pure=True)
    yaml.Parser = _StrictParser
    try:
        return yaml.load(text)
    except _NotAllowed as error:
        raise _error(
            name, error.problem_mark.line, error.problem_mark.column, error.problem
        ) from None
    except DuplicateKeyError as error:
        mark = error.problem_mark
        key = re.search(r'found duplicate key "(.*?)"', str(error.problem))
        named = f"the key `{key.group(1)}`" if key else "this key"
        raise _error(name, mark.line, mark.column, f"{named} stands here twice") from error
    except MarkedYAMLError as error:
        raise _yaml_error(name, error) from error
    except (YAMLError, ValueError, TypeError) as error:
        raise _unreadable(name, text, error) from error


def _yaml_error(name: str, error: MarkedYAMLError) -> ProblemFileError:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark else (0, 0)
    problem = str(error.problem or error.context)
    hint = next((hint for part, hint in HINTS.items() if part in problem), "")
    return _error(name, line, column, f"this is not YAML: {problem}{hint}")


def _unreadable(name: str, text: str, error: Exception) -> ProblemFileError:
    found = re.search(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text)
    if found:
        line = text.count("\n", 0, found.start())
        return _error(name, line, 0, f"the character {found.group()!r} is not allowed in YAML")
    return _error(name, 0, 0, f"this is not YAML: {' '.join(str(error).split())[:200]}")


def _error(name: str, line: int, column: int, message: str) -> ProblemFileError:
    return ProblemFileError([Place(name, line + 1, column + 1, message)])


def _plain(node: object) -> object:
    """The same tree without ruamel's types."""
    if isinstance(node, dict):
        return {_plain(key): _plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_plain(member) for member in node]
    for kind in (bool, int, float, str):
        if isinstance(node, kind):
            return kind(node)
    return node


def _position(node: object, location: Location, key: bool) -> tuple[int, int]:
    line, column = (node.lc.line, node.lc.col) if hasattr(node, "lc") else (0, 0)
    for step in location:
        if isinstance(node, CommentedMap) and step in node:
            line, column = node.lc.key(step) if key else node.lc.value(step)
            key_line, key_column = node.lc.key(step)
            if isinstance(node[step], str) and "\n" in node[step]:
                line, column = key_line, key_column  # a block of text: name its key
        elif isinstance(node, CommentedSeq) and isinstance(step, int) and step < len(node):
            line, column = node.lc.item(step)
        else:
            continue
        node = node[step]
    return line, column
