"""One job's way through a slot: its groups of calls, forks, deadlines, and what each end means."""

import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import numpy as np

from app.domain.outcome import Outcome
from app.domain.run import Remark
from app.sandbox import wire
from app.sandbox.control import Ended
from app.sandbox.fork import Fork
from app.sandbox.job import Answer, Call, Failure, Job, Value
from app.sandbox.slot import Slot
from app.sandbox.wire import CallHeader, FailureHeader, Load, RemarkHeader, Reply, ValueHeader

LOAD_S = 5.0
"""What loading the files may take at least; a job with a longer ``case_s`` gets that."""

_LOADING = -1
_OWN_DIRECTORY = "/tmp/submission"  # noqa: S108 - in the child's private tmpfs
_OUTCOMES = {name: Outcome(name) for name in FailureHeader.__annotations__["outcome"].__args__}


@dataclass(frozen=True)
class _Deadline:
    """A moment, and the limit that set it, as told to the student."""

    at: float
    limit: str


class Session:
    """Runs one job once. Raises SlotLost when the slot died and the job may be run again."""

    def __init__(self, job: Job, slot: Slot) -> None:
        _check_names(job)
        self._job = job
        self._slot = slot
        self._answers: dict[int, Answer] = {}
        self._loaded_once = False
        self._remarks: tuple[Remark, ...] = ()
        self._wall = _Deadline(time.monotonic() + job.limits.wall_s, _seconds(job.limits.wall_s))

    def run(self) -> list[Answer]:
        """Answers in the order of the calls, once nothing of the job is alive."""
        with self._slot.laid_out(self._job.files):
            self._run_groups()
            self._slot.settle()
        spent = Answer(failure=Failure(Outcome.TIMED_OUT, limit=self._wall.limit))
        answers = [self._answers.get(index, spent) for index in range(len(self._job.calls))]
        return [replace(answer, remarks=self._remarks) for answer in answers[:1]] + answers[1:]

    def _run_groups(self) -> None:
        for waiting in _groups(self._job.calls):
            while waiting and self._time_is_left():
                self._run_fork(waiting)

    def _time_is_left(self) -> bool:
        return time.monotonic() < self._wall.at

    def _run_fork(self, waiting: list[int]) -> None:
        """One child takes calls until none waits or one ends it; taken ones leave ``waiting``."""
        file_bytes = sum(map(len, self._job.files.values()))
        with self._slot.take(self._job.limits, file_bytes) as fork:
            printed = self._load(fork)
            while waiting and not self._all_failed() and self._time_is_left():
                index = waiting.pop(0)
                answer, alive = self._call(fork, index, printed)
                self._answers[index] = answer
                printed = ""
                if not alive:
                    return
        if self._all_failed():
            waiting.clear()

    def _all_failed(self) -> bool:
        return len(self._answers) == len(self._job.calls)

    # Loading

    def _load(self, fork: Fork) -> str:
        """Send the files and wait until they are loaded; returns what that printed.

        A failure is the answer of every call not answered yet: the files are the same in every
        fork. The text printed and the remarks belong to the job's first call and are kept once.
        """
        job = self._job
        deadline = self._deadline(max(LOAD_S, job.limits.case_s))
        bodies: list[wire.Array] = [
            np.frombuffer(content, np.uint8) for content in job.files.values()
        ]
        load = Load(
            directory=str(self._slot.directory or _OWN_DIRECTORY),
            files=list(job.files),
            seed=job.seed % (1 << 64),
            stdout_limit=job.limits.stdout_kb * 1000 + 1,
            output_limit=job.limits.output_mb << 20,
            given=job.given,
            arrays=[wire.describe(body) for body in bodies],
        )
        started = time.monotonic()
        failure, reply, _ = self._exchange(fork, load, bodies, deadline, loading=True)
        printed = self._printed(fork)
        if self._loaded_once:
            printed = ""
        elif reply:
            self._remarks = tuple(map(self._remark, reply.remarks))
        self._loaded_once = True
        if failure is None:
            return printed
        seconds = time.monotonic() - started
        for index in range(len(job.calls)):
            told = printed if index == 0 else ""
            self._answers.setdefault(index, Answer(failure=failure, stdout=told, seconds=seconds))
        return ""

    # One call

    def _call(self, fork: Fork, index: int, printed_before: str) -> tuple[Answer, bool]:
        """The answer to one call, and whether the child can take another."""
        call = self._job.calls[index]
        arrays: list[wire.Array] = []
        arguments = [wire.encode_tree(argument, arrays) for argument in call.arguments]
        headers = [wire.describe(array) for array in arrays]
        names = list(call.names)
        header = CallHeader(index, call.entry, call.file, arguments, call.echo, names, headers)
        started = time.monotonic()
        deadline = self._deadline(self._job.limits.case_s)
        failure, reply, results = self._exchange(fork, header, arrays, deadline)
        answer = Answer(
            values=_values(reply.values, results) if reply and not failure else (),
            failure=failure,
            arguments_after=(
                _values(reply.after, results[len(reply.values) :]) if reply and not failure else ()
            ),
            stdout=printed_before + self._printed(fork),
            seconds=time.monotonic() - started,
        )
        return answer, reply is not None

    def _deadline(self, seconds: float) -> _Deadline:
        own = _Deadline(time.monotonic() + seconds, _seconds(seconds))
        return own if own.at < self._wall.at else self._wall

    def _printed(self, fork: Fork) -> str:
        kilobytes = self._job.limits.stdout_kb
        text, cut = fork.printed(kilobytes * 1000)
        return text + f"\n[output cut at {kilobytes} kB]\n" if cut else text

    def _exchange(
        self,
        fork: Fork,
        header: Load | CallHeader,
        arrays: list[wire.Array],
        deadline: _Deadline,
        *,
        loading: bool = False,
    ) -> tuple[Failure | None, Reply | None, list[wire.Array]]:
        """Send one message and read its reply. No reply means that the child is ended."""
        number = _LOADING if isinstance(header, Load) else header.number
        try:
            fork.send(header, arrays, deadline.at)
            # Values, and with ``echo`` the arguments, each up to the limit.
            byte_limit = 2 * (self._job.limits.output_mb << 20)
            reply, results = fork.receive(Reply, byte_limit, deadline.at)
            _check_reply(reply, number)
        except TimeoutError:
            fork.end()
            return Failure(Outcome.TIMED_OUT, limit=deadline.limit), None, []
        except wire.Unreadable as error:
            fork.end()
            return Failure(Outcome.CRASHED, f"its answer could not be read: {error}"), None, []
        except (EOFError, OSError):
            ended = fork.end_by_itself()
            return self._death(fork, ended, deadline, loading), None, []
        return self._told(reply.failure), reply, results

    # What is told, and what an end means

    def _remark(self, told: RemarkHeader) -> Remark:
        file = told.file if told.file in self._job.files else ""
        return Remark(kind=told.kind, file=file, cell=told.cell, line=told.line, text=told.text)

    def _told(self, told: FailureHeader | None) -> Failure | None:
        """The child's own account, kept within the job's names and limits."""
        if told is None:
            return None
        limits = self._job.limits
        limit = {"arrays": f"{wire.MAX_VALUES} arrays", "bytes": f"{limits.output_mb} MB"}
        outcome = _OUTCOMES[told.outcome]
        own_file = told.file if told.file in self._job.files else ""
        return Failure(
            outcome=outcome,
            detail=told.detail,
            error_type=told.error_type,
            file=own_file,
            cell=told.cell if own_file else None,
            line=told.line if own_file else None,
            limit=self._memory() if outcome is Outcome.OUT_OF_MEMORY else limit.get(told.limit, ""),
            exit_code=told.exit_code,
            in_given=told.in_given,
        )

    def _memory(self) -> str:
        return f"{self._job.limits.memory_mb} MB"

    def _death(self, fork: Fork, ended: Ended, deadline: _Deadline, loading: bool) -> Failure:
        """The child's process ended, or cut its connection and was ended, without an answer."""
        outcome = Outcome.LOAD_ERROR if loading else Outcome.CRASHED
        if fork.killed_by_oom():
            return Failure(Outcome.OUT_OF_MEMORY, limit=self._memory(), signal=signal.SIGKILL)
        if ended.killed:
            return Failure(outcome, "the process closed its connection to the grader")
        number = ended.status & 0x7F
        if number == 0:
            return Failure(outcome, exit_code=ended.status >> 8)
        if number == signal.SIGKILL and ended.cpu_ms >= 2000 * self._job.limits.wall_s:
            return Failure(Outcome.TIMED_OUT, limit=deadline.limit, signal=number)
        return Failure(outcome, signal=number)


def _groups(calls: Sequence[Call]) -> list[list[int]]:
    """The calls' positions by ``fork`` name, in order of first appearance."""
    groups: dict[str, list[int]] = {}
    for index, call in enumerate(calls):
        groups.setdefault(call.fork, []).append(index)
    return list(groups.values())


def _check_names(job: Job) -> None:
    for name in job.files:
        path = PurePosixPath(name)
        plain = str(path) == name and not path.is_absolute() and ".." not in path.parts
        if not plain or name in ("", ".") or "\0" in name or len(name.encode()) > 1000:
            raise ValueError(f"file name {name!r}, expected a relative path without '..'")


def _check_reply(reply: Reply, number: int) -> None:
    if reply.number != number:
        raise wire.Unreadable(f"answer number {reply.number}, expected {number}")
    if len(reply.arrays) != len(reply.values) + len(reply.after):
        raise wire.Unreadable(
            f"{len(reply.arrays)} arrays for {len(reply.values) + len(reply.after)} values"
        )


def _values(headers: Sequence[ValueHeader], arrays: Sequence[wire.Array]) -> tuple[Value, ...]:
    values = []
    for header, array in zip(headers, arrays, strict=False):
        array.flags.writeable = False
        values.append(Value(header.path, array, header.source))
    return tuple(values)


def _seconds(limit: float) -> str:
    return f"{limit:g} s"
