"""What the trusted side tells the launcher and the master zygote. Also runs inside the jail."""

import json
from dataclasses import asdict, dataclass
from typing import Self

LAYERS = frozenset({"landlock", "seccomp", "outer_seccomp", "pid_namespace"})
"""What can be left out, for negative controls: a test of an attack is worth something only if
the attack works once its layers are gone."""


@dataclass(frozen=True)
class Config:
    """One jail. Places are paths below the jail's root, without the leading slash."""

    level: str
    root: str  # "/" once inside the full jail; the view's directory at level landlock
    python: str  # place of the interpreter
    binds: list[tuple[str, str]]  # (path outside, place)
    links: list[tuple[str, str]]  # (link text, place)
    covers: list[str]  # places hidden under an empty directory
    readable: list[str]  # paths inside that a job may read
    directories: list[str]  # level landlock: of each slot, where the service puts a job's files
    controls: list[int]  # descriptor of each slot's control socket
    groups: list[list[int]]  # descriptors of each slot's cgroup.procs files
    job_filter: str  # compiled seccomp programs, in hex
    zygote_filter: str
    without: list[str]  # LAYERS to leave out

    def to_json(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, text: bytes) -> Self:
        return cls(**json.loads(text))
