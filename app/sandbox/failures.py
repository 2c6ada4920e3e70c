"""Puts what student code ended with into words and a place in the student's files. In the child."""

import errno
import linecache
import re
import traceback
from types import TracebackType
from typing import NamedTuple

from . import wire
from .wire import FailureHeader

_CELL_PATH = re.compile(r"(?s)(?P<file>.*\.ipynb), cell (?P<cell>[0-9]{1,9})\Z")
_OUTSIDE_MEMORY = "DefaultCPUAllocator"  # torch tells its MemoryError in a RuntimeError


class Place(NamedTuple):
    """A line of a student's file, in a notebook of one of its cells; "" and None if unknown.

    ``in_given`` says that only code which the problem gives was running.
    """

    file: str
    cell: int | None
    line: int | None
    in_given: bool = False


def cell_path(path: str, number: int) -> str:
    """What a cell of the notebook ``path`` is compiled as, and so called in tracebacks."""
    return f"{path}, cell {number}"


def of_call(error: BaseException, directory: str, given: str = "") -> FailureHeader:
    """What a call ended with; ``directory`` holds the student's files, and beside them the file
    ``given``, which is not theirs."""
    place = _place(error, directory, given)
    if isinstance(error, SystemExit):
        return FailureHeader(
            "crashed",
            detail=_exit_text(error),
            error_type="SystemExit",
            exit_code=_exit_code(error),
            **place._asdict(),
        )
    return FailureHeader(
        "out_of_memory" if _is_out_of_memory(error) else "raised",
        detail=_explained(error),
        error_type=_type_name(error),
        **place._asdict(),
    )


def of_loading(error: BaseException, name: str, directory: str, given: str = "") -> FailureHeader:
    """What loading the file ``name`` ended with; the others as in ``of_call``."""
    place = _place(error, directory, given)
    if name != given:
        place = place._replace(file=place.file or name)
    if isinstance(error, SystemExit):
        detail, code = f"{name} calls sys.exit() when it is loaded", _exit_code(error)
        return FailureHeader("load_error", detail, "SystemExit", exit_code=code, **place._asdict())
    return FailureHeader(
        "out_of_memory" if _is_out_of_memory(error) else "load_error",
        detail=_explained(error),
        error_type=_type_name(error),
        **place._asdict(),
    )


def in_short(error: BaseException) -> str:
    """The error's type and its text."""
    says_nothing = isinstance(error, SystemExit) and error.code is None
    text = "" if says_nothing else _explained(error)
    return f"{_type_name(error)}: {text}" if text else _type_name(error)


def _is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError):
        return True
    return type(error) is RuntimeError and _OUTSIDE_MEMORY in _text(error)


def _exit_code(error: SystemExit) -> int:
    """As the interpreter would exit: no code is 0, a text is printed and means 1."""
    code = error.code
    if code is None:
        return 0
    return code & 0xFF if type(code) is int else 1


def _exit_text(error: SystemExit) -> str:
    return "" if error.code is None or type(error.code) is int else _text(error)


def _text(error: BaseException) -> str:
    try:
        # msg: without the file and line, which travel beside it
        text = str(error.msg) if isinstance(error, SyntaxError) else str(error)
    except BaseException:  # noqa: BLE001 - __str__ is student code
        return "(its text cannot be shown)"
    return text[: wire.MAX_TEXT].encode("utf-8", "replace").decode()


def _explained(error: BaseException) -> str:
    """The error's text, and a reason where the sandbox's refusal would be a riddle."""
    reason = ""
    if type(error) in (PermissionError, FileNotFoundError) and _was_to_start(error):
        reason = "processes cannot be started here"
    if type(error) is RuntimeError and str(error) == "can't start new thread":
        reason = "there are too many threads already"
    text = _text(error)
    return f"{text[: wire.MAX_TEXT - 100]}; {reason}" if reason else text


def _was_to_start(error: BaseException) -> bool:
    """Whether the line that failed, perhaps in a library, was about to start a process."""
    places = list(traceback.walk_tb(error.__traceback__))
    if not places:
        return False
    if any("/multiprocessing/" in frame.f_code.co_filename for frame, _ in places):
        return True  # fails earlier, for want of a semaphore
    frame, number = places[-1]
    line = linecache.getline(frame.f_code.co_filename, number)
    starts = any(word in line for word in ("fork", "spawn", "exec"))
    return starts and getattr(error, "errno", None) == errno.EPERM


def _type_name(error: BaseException) -> str:
    name = str(type.__getattribute__(type(error), "__name__"))
    return name[: wire.MAX_KEY].encode("utf-8", "replace").decode()


def _place(error: BaseException, directory: str, given: str) -> Place:
    """The innermost place in the student's own files, or none."""
    if isinstance(error, SyntaxError) and type(error.lineno) is int and error.lineno > 0:
        file, cell = _own_file(error.filename, directory)
        if file and file != given:
            return Place(file, cell, error.lineno)
    return _innermost(error.__traceback__, directory, given)


def _innermost(trace: TracebackType | None, directory: str, given: str) -> Place:
    place = Place("", None, None)
    for frame, line in traceback.walk_tb(trace):
        file, cell = _own_file(frame.f_code.co_filename, directory)
        if file and file == given:
            place = place._replace(in_given=not place.file)
        elif file and line:
            place = Place(file, cell, line)
    return place


def _own_file(path: object, directory: str) -> tuple[str, int | None]:
    if type(path) is not str or not path.startswith(f"{directory}/"):
        return "", None
    name = path[len(directory) + 1 :]
    if found := _CELL_PATH.match(name):
        return found["file"][:1000], int(found["cell"]) or None
    return name[:1000], None
