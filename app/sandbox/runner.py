"""Runs a job inside the confined child: loads the student's files, makes one call after another.

Nothing this process says is believed outside: from the first line of student code on it may be
anything. What is here serves honest students, by telling precisely what went wrong.
"""

import contextlib
import faulthandler
import importlib
import io
import os
import random
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import torch

from . import wire
from .calling import called
from .failures import of_call, of_loading
from .modules import Modules, is_called
from .notebook_module import run_notebook, shortened
from .results import NotTaken, TooLarge, flatten, flatten_arguments
from .sources import check_text
from .wire import CallHeader, FailureHeader, Load, RemarkHeader, Reply

LOADING = -1
_CHUNK = 1 << 16
_HEADER_LIMIT = 1 << 30  # from the trusted side


def warm_up() -> None:
    """Import and run once what student code commonly needs. In the zygote, before any job."""
    import site

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    for name in _COMMON_MODULES.split():
        importlib.import_module(name)
    site.setquit()  # exit() and quit(), which -S leaves out
    for width in (torch.float32, torch.float64):
        scores = torch.ones(3, 3, dtype=width)
        torch.softmax(scores @ scores, -1).sum()
    numbers = np.random.default_rng(0).normal(size=(3, 3))
    np.linalg.svd(np.einsum("ij,jk->ik", numbers, numbers))
    faulthandler.disable()  # some import turned it on; its dumps are not for students
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    flatten([numbers, torch.ones(3), 1.0], 1 << 20)


_COMMON_MODULES = """
    abc argparse bisect cmath collections contextlib copy csv dataclasses decimal enum
    encodings.latin_1 encodings.ascii encodings.utf_8_sig fractions functools heapq inspect io
    itertools json linecache logging math numbers operator os pathlib pprint re statistics
    string textwrap threading time tokenize traceback types typing unittest warnings
    numpy.fft numpy.linalg numpy.ma numpy.polynomial numpy.random numpy.testing numpy.typing
    torch._dynamo torch.autograd torch.func torch.nn torch.nn.functional torch.optim
"""


def serve(job: int) -> None:
    """Load the job's files and answer its calls until the other side closes."""
    read = _reader(job)
    _rehearse()
    load, bodies = wire.receive(read, Load, 1 << 40, _HEADER_LIMIT)
    _seed(load.seed)
    printed = _redirect_output(load.stdout_limit)
    files = {name: body.tobytes() for name, body in zip(load.files, bodies, strict=True)}
    submission = Submission(load.directory, files, load.given)
    failure = submission.load()
    _answer(job, Reply(LOADING, failure, remarks=shortened(submission.remarks)))
    while True:
        printed.start_over()
        call, arrays = wire.receive(read, CallHeader, 1 << 40, _HEADER_LIMIT)
        reply, results = _make(call, arrays, submission, load.output_limit)
        _flush()
        _answer(job, reply, results)


def _rehearse() -> None:
    """Touch what a small job touches, before a byte of the job is read: the first write to each
    shared page costs a copy, and a child on standby has the time for it."""
    space: dict[str, Any] = {}
    exec(compile(_REHEARSAL, "rehearsal.py", "exec"), space)  # noqa: S102 - our own text
    found = flatten(space["attention"](np.ones((3, 2))), 1 << 20)
    arrays = [array for _, array in found]
    headers = [wire.describe(array) for array in arrays]
    list(wire.parts(Reply(0, values=[value for value, _ in found], arrays=headers), arrays))


_REHEARSAL = """
import numpy as np

def attention(x):
    scores = np.where(np.tri(3, dtype=bool), x @ x.T / np.sqrt(x.shape[-1]), -np.inf)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights, weights @ x
"""


def _reader(descriptor: int) -> wire.Read:
    """Reads ahead, to take a small message in one go. The other side sends the next call only
    after the answer, so there is nothing further to meet."""
    unread = bytearray()

    def read(size: int) -> bytearray:
        while len(unread) < size:
            got = os.read(descriptor, max(size - len(unread), _CHUNK))
            if not got:
                os._exit(0)
            unread.extend(got)
        taken = unread[:size]
        del unread[:size]
        return taken

    return read


def _answer(descriptor: int, reply: Reply, arrays: list[wire.Array] | None = None) -> None:
    for part in wire.parts(reply, arrays or []):
        view = memoryview(part)
        while view:
            view = view[os.write(descriptor, view) :]


def _seed(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % (1 << 32))
    torch.default_generator.manual_seed(seed % (1 << 63))


# Printed text


class _Printed(io.RawIOBase):
    """Standard output as a memory file that swallows silently what is over the limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._left = limit

    def start_over(self) -> None:
        """Allow the whole limit again, for the next call."""
        self._left = self._limit

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1

    def write(self, text: Any) -> int:
        length = len(text)
        if self._left > 0:
            try:
                self._left -= os.write(1, text[: self._left])
            except OSError:
                self._left = 0  # the student filled or closed the descriptor by other means
        return length


def _redirect_output(limit: int) -> _Printed:
    """Send print to the memory file at once, so that it survives a kill."""
    raw = _Printed(limit)
    for name in ("stdout", "stderr"):
        # On the raw stream itself, so that no buffer holds text back from a kill.
        stream = io.TextIOWrapper(
            raw,  # type: ignore[type-var]
            encoding="utf-8",
            errors="backslashreplace",
            write_through=True,
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    return raw


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # the student's own object by now
            stream.flush()


# The student's files


class Submission:
    """The files as loaded modules, and what went wrong while loading."""

    def __init__(self, directory: str, files: dict[str, bytes], given: str = "") -> None:
        self.directory = directory
        self.given = given
        self._files = files
        self._modules: dict[str, ModuleType] = {}
        self.remarks: list[RemarkHeader] = []

    def load(self) -> FailureHeader | None:
        """Write all files, then load the Python ones in order; stop at the first that fails."""
        self._enter_directory()
        names = [name for name in self._files if name.endswith((".py", ".ipynb"))]
        try:
            for name in self._files:
                self._write(name)
                if name.endswith(".py"):
                    check_text(f"{self.directory}/{name}", self._files[name])
            modules = Modules(self.directory, names)
            for name in names:
                self._load(modules, name)
        except BaseException as error:  # noqa: BLE001 - SystemExit too is the student's
            return of_loading(error, name, self.directory, self.given)
        finally:
            _flush()
        return None

    def _enter_directory(self) -> None:
        os.makedirs(self.directory, exist_ok=True)
        os.chdir(self.directory)

    def _write(self, name: str) -> None:
        if os.path.exists(name):
            return  # written outside: at level landlock a job has nowhere to write
        if os.path.dirname(name):
            os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "wb") as file:
            file.write(self._files[name])

    def _load(self, modules: Modules, name: str) -> None:
        if name.endswith(".py"):
            self._modules[name] = modules.load(name)
            return
        self._modules[name] = module = modules.empty(name)
        self.remarks += run_notebook(module, name, self._files[name])

    def find(self, entry: str, file: str | None) -> Callable[..., object] | None:
        """The function called ``entry``, in the first file that defines or imports it; ``file`` as
        in ``is_called``."""
        named = [name for name in self._modules if file is None or is_called(name, file)]
        for name in sorted(named, key=lambda name: name != file):
            if entry in (defined := vars(self._modules[name])):
                found: Callable[..., object] = defined[entry]
                return found
        return None


# One call


def _make(
    call: CallHeader, arrays: list[wire.Array], submission: Submission, output_limit: int
) -> tuple[Reply, list[wire.Array]]:
    function = submission.find(call.entry, call.file)
    if function is None:
        failure = FailureHeader("not_defined", detail=call.entry[:200], file=call.file or "")
        return Reply(call.number, failure), []
    try:
        arguments = [wire.decode_tree(node, arrays, submission.find) for node in call.arguments]
    except wire.NotDefined as missing:
        return Reply(call.number, FailureHeader("not_defined", detail=str(missing)[:200])), []
    try:
        values = flatten(called(function, arguments, call.names), output_limit)
        after = flatten_arguments(arguments, output_limit) if call.echo else []
    except NotTaken as error:
        return Reply(call.number, FailureHeader("wrong_type", detail=str(error)[:200])), []
    except TooLarge as error:
        return Reply(call.number, FailureHeader("output_too_large", limit=error.limit)), []
    except BaseException as error:  # noqa: BLE001 - SystemExit and evil ones too
        return Reply(call.number, of_call(error, submission.directory, submission.given)), []
    results = [array for _, array in (*values, *after)]
    headers = [wire.describe(array) for array in results]
    found, standing = [header for header, _ in values], [header for header, _ in after]
    return Reply(call.number, None, found, standing, headers), results
