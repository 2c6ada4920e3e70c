"""Starts and ends one jail: the launcher's process, its config, its sockets and control groups."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import ExitStack
from itertools import chain
from pathlib import Path

from app.errors import SandboxUnavailable
from app.sandbox import layout, seccomp
from app.sandbox.cgroup import Group
from app.sandbox.config import Config
from app.sandbox.control import READY
from app.sandbox.line import Line
from app.sandbox.probe import Level
from app.sandbox.slot import Slot

_START_S = 120.0
_END_S = 20.0
_LAUNCH = (
    "import sys; sys.path.insert(0, sys.argv[1]); from app.sandbox import jail; "
    "jail.main(int(sys.argv[2]), int(sys.argv[3]))"
)


class Jail:
    """One running jail with a control socket for each slot."""

    def __init__(self, level: Level, slots: int, standby: int, without: frozenset[str]) -> None:
        """Returns when every slot waits for a job; SandboxUnavailable where one does not."""
        self._cleanup = ExitStack()
        self._controls: list[socket.socket] = []
        try:
            self._groups = [self._make_group() for _ in range(slots)]
            directories = self._launch(level, without)
            self._await_slots()
        except BaseException:
            self.end()
            for control in self._controls:
                control.close()
            raise
        lines = map(Line, self._controls)
        parts = zip(lines, self._groups, directories, strict=True)
        self.slots = [Slot(*of_one, standby) for of_one in parts]

    def _make_group(self) -> Group | None:
        group = Group.create()
        if group:
            self._cleanup.callback(group.remove)
        return group

    def _launch(self, level: Level, without: frozenset[str]) -> list[Path | None]:
        with ExitStack() as theirs:
            inside = []
            for _ in self._groups:
                ours, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                self._controls.append(ours)
                inside.append(theirs.enter_context(other).fileno())
            procs = [group.open_procs() if group else [] for group in self._groups]
            for descriptor in chain(*procs):
                theirs.callback(os.close, descriptor)
            view = self._make_view() if level is Level.LANDLOCK else None
            directories = [_make_directory(view, slot) for slot in range(len(procs))]
            config = _config(level, view, inside, procs, without)
            self._start_process(config, [*inside, *chain(*procs)])
        return directories

    def _make_view(self) -> Path:
        """At level landlock, the directory of links that takes the place of a root."""
        view = Path(tempfile.mkdtemp(prefix="attest-view-"))
        self._cleanup.callback(shutil.rmtree, view, ignore_errors=True)
        return view

    def _start_process(self, config: Config, kept: Iterable[int]) -> None:
        errors = open(os.memfd_create("errors"), "r+b")  # noqa: SIM115 - closed by the stack
        self._errors = self._cleanup.enter_context(errors)
        self._lifeline, other = socket.socketpair()
        self._cleanup.enter_context(self._lifeline)
        with other, open(os.memfd_create("config"), "w+b") as file:
            file.write(config.to_json())
            file.flush()
            passed = [file.fileno(), other.fileno()]
            package_root = str(Path(__file__).parents[2])
            arguments = [package_root, *map(str, passed)]
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and text
                [sys.executable, "-I", "-S", "-c", _LAUNCH, *arguments],
                pass_fds=[*passed, *kept],
                stdin=subprocess.DEVNULL,
                stdout=self._errors,
                stderr=self._errors,
                env={"LANG": "C.UTF-8"},
            )
        self._cleanup.callback(self._end_process)

    def _end_process(self) -> None:
        """Closing the lifeline ends the guard, which ends all that is inside."""
        self._lifeline.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _await_slots(self) -> None:
        deadline = time.monotonic() + _START_S
        for control in self._controls:
            control.settimeout(max(0.0, deadline - time.monotonic()))
            try:
                message = control.recv(64)
            except TimeoutError:
                raise SandboxUnavailable(
                    f"the sandbox was not ready within {_START_S:g} s; {self._reason()}"
                ) from None
            if message != READY:
                raise SandboxUnavailable(f"the sandbox could not start: {self._reason()}")

    def _reason(self) -> str:
        """What the launcher or the interpreter inside said last."""
        self._lifeline.settimeout(1.0)
        try:
            told = self._lifeline.recv(2000).decode("utf-8", "replace")
        except OSError:
            told = ""
        self._errors.seek(0)
        lines = self._errors.read(1 << 20).decode("utf-8", "replace").split("\n")
        printed = [line for line in lines if line.strip()]
        return told or (printed[-1] if printed else "it gave no reason")

    def end(self) -> None:
        """End everything in the jail and remove its control groups.

        The control sockets stay open, at end of file: whoever holds a slot may be reading its
        one, and a number closed under a reader could already be another socket's.
        """
        self._cleanup.close()


def _make_directory(view: Path | None, slot: int) -> Path | None:
    """Where the service puts the files of a slot's jobs, if they have no tmpfs of their own."""
    if view is None:
        return None
    directory = view / "jobs" / str(slot)
    directory.mkdir(parents=True)
    return directory


def _config(
    level: Level,
    view: Path | None,
    controls: list[int],
    groups: list[list[int]],
    without: frozenset[str],
) -> Config:
    shown = layout.describe()
    root = "/"
    directories: list[str] = []
    readable = [f"/{place}" for place in shown.readable()]
    if view is not None:
        readable = layout.link_farm(shown, view)
        root = str(view)
        directories = [str(view / "jobs" / str(slot)) for slot in range(len(controls))]
    return Config(
        level=level,
        root=root,
        python=layout.PYTHON,
        binds=shown.binds,
        links=shown.links,
        covers=shown.covers,
        readable=readable,
        directories=directories,
        controls=controls,
        groups=groups,
        job_filter=seccomp.job_filter(own_pids=level is Level.FULL).hex(),
        zygote_filter=seccomp.zygote_filter().hex(),
        without=sorted(without),
    )
