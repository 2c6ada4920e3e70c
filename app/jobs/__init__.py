"""The queue: hints that rows elsewhere wait for work. It knows names and payloads, not the work.

An engine delivers a job at least once; the rows decide whether anything is left to do. Here is the
embedded engine, a table of the same database. A payload's ``ticket`` ties the job to its row.
"""

from app.jobs.queue import (
    WAITERS,
    Stats,
    announce,
    bell_path,
    enqueue,
    healthy,
    live_tickets,
    recover,
    stats,
)
from app.jobs.worker import Handler, run_worker, wake

__all__ = [
    "WAITERS",
    "Handler",
    "Stats",
    "announce",
    "bell_path",
    "enqueue",
    "healthy",
    "live_tickets",
    "recover",
    "run_worker",
    "stats",
    "wake",
]
