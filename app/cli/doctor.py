"""``attest doctor``: what isolation this host allows, step by step."""

import json
import platform
from dataclasses import asdict
from importlib.metadata import version

from app.sandbox.probe import Level, Probe, probe

PACKAGES = ("attest-grader", "numpy", "torch", "msgspec", "pyseccomp")


def run(as_json: bool) -> int:
    """Prints the findings. Returns 0 at level full, 1 below, 2 where nothing may run."""
    found = probe()
    print(json.dumps(_object(found)) if as_json else "\n".join(_lines(found)))
    if found.level is None:
        return 2
    return 0 if found.level == Level.FULL else 1


def _object(found: Probe) -> dict[str, object]:
    return {**asdict(found), "python": platform.python_version(), "packages": _versions()}


def _versions() -> dict[str, str]:
    return {name: version(name) for name in PACKAGES}


def _lines(found: Probe) -> list[str]:
    widest = max(map(len, found.steps))
    return [
        f"isolation level: {found.level or 'none: nothing can be graded here'}",
        *(f"  {step:<{widest}}  {result}" for step, result in found.steps.items()),
        f"  {'landlock ABI':<{widest}}  {found.landlock_abi}",
        f"  {'cgroup':<{widest}}  {found.cgroup}",
        *(f"to lift the level: {advice}" for advice in found.advice),
        f"Python {platform.python_version()}",
        *(f"{name} {number}" for name, number in _versions().items()),
    ]
