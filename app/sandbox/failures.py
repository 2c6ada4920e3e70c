"""Puts what student code ended with into words and a place in the student's files. In the child."""

import errno
import linecache
import traceback
from types import TracebackType

from . import wire
from .wire import FailureHeader

_OUTSIDE_MEMORY = "DefaultCPUAllocator"  # torch tells its MemoryError in a RuntimeError


def of_call(error: BaseException, directory: str) -> FailureHeader:
    """What a call ended with; ``directory`` holds the student's files."""
    file, line = _place(error, directory)
    if isinstance(error, SystemExit):
        return FailureHeader(
            "crashed",
            detail=_exit_text(error),
            error_type="SystemExit",
            file=file,
            line=line,
            exit_code=_exit_code(error),
        )
    return FailureHeader(
        "out_of_memory" if _is_out_of_memory(error) else "raised",
        detail=_explained(error),
        error_type=_type_name(error),
        file=file,
        line=line,
    )


def of_loading(error: BaseException, name: str, directory: str) -> FailureHeader:
    """What loading the file ``name`` ended with."""
    file, line = _place(error, directory)
    file = file or name
    if isinstance(error, SystemExit):
        detail = f"{name} calls sys.exit() when it is loaded"
        code = _exit_code(error)
        return FailureHeader("load_error", detail, "SystemExit", file, line, exit_code=code)
    return FailureHeader(
        "out_of_memory" if _is_out_of_memory(error) else "load_error",
        detail=_explained(error),
        error_type=_type_name(error),
        file=file,
        line=line,
    )


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


def _place(error: BaseException, directory: str) -> tuple[str, int | None]:
    """The innermost place in the student's own files, or no file and None."""
    if isinstance(error, SyntaxError) and type(error.lineno) is int and error.lineno > 0:
        file = _own_file(error.filename, directory)
        if file:
            return file, error.lineno
    return _innermost(error.__traceback__, directory)


def _innermost(trace: TracebackType | None, directory: str) -> tuple[str, int | None]:
    place: tuple[str, int | None] = ("", None)
    for frame, line in traceback.walk_tb(trace):
        file = _own_file(frame.f_code.co_filename, directory)
        if file and line:
            place = (file, line)
    return place


def _own_file(path: object, directory: str) -> str:
    if type(path) is str and path.startswith(f"{directory}/"):
        return path[len(directory) + 1 :][:1000]
    return ""
