"""The sandbox of this host, as the settings allow it."""

import os

from app.sandbox.probe import Level
from app.sandbox.sandbox import Sandbox
from app.settings import Settings


def open_sandbox(settings: Settings, slots: int = 1) -> Sandbox:
    """A started sandbox. Raises SandboxUnavailable below the level that is allowed."""
    return Sandbox(
        slots,
        allow_level=Level(settings.sandbox_allow_level),
        standby=settings.sandbox_standby,
    )


def slots_for_all_cores() -> int:
    """One slot for each core that this process may use."""
    return max(1, len(os.sched_getaffinity(0)))
