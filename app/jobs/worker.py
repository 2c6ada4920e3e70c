"""Runs jobs: takes them up, hands them to threads, and forgets them when they are done."""

import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from app.db import Sessions, snapshot, transaction
from app.failpoint import failpoint
from app.jobs import queue
from app.jobs.bell import Bell, ring
from app.models import Job
from app.models.base import now
from app.settings import JobSettings

Handler = Callable[..., None]
"""Called with the payload as keywords. What it raises is a reason to deliver the job again."""

log = logging.getLogger(__name__)


def wake(sessions: Sessions) -> None:
    """Makes the worker look at its queue and at ``stop`` now."""
    ring(queue.beside(sessions.kw["bind"], queue.WORKER))


def run_worker(
    sessions: Sessions,
    handlers: Mapping[str, Handler],
    slots: int,
    stop: threading.Event,
    settings: JobSettings,
) -> None:
    """Delivers jobs until ``stop`` is set, then waits for the running ones, but not for ever.

    Only for the holder of the worker's lock. Whoever sets ``stop`` may ``wake`` for a quick end.
    """
    bell = Bell(queue.beside(sessions.kw["bind"], queue.WORKER))
    pool = ThreadPoolExecutor(slots, thread_name_prefix="job")
    loop = _Loop(sessions, handlers, slots, settings, pool)
    try:
        while not stop.is_set():
            loop.start_what_is_due()
            bell.wait(loop.pause())
        wait(loop.running, timeout=settings.drain_timeout)
    finally:
        bell.close()
        pool.shutdown(wait=False, cancel_futures=True)


@dataclass
class _Loop:
    sessions: Sessions
    handlers: Mapping[str, Handler]
    slots: int
    settings: JobSettings
    pool: ThreadPoolExecutor
    running: set[Any] = field(default_factory=set)

    def start_what_is_due(self) -> None:
        self.running = {future for future in self.running if not future.done()}
        while len(self.running) < self.slots and (job := self.claim()):
            future = self.pool.submit(self.deliver, job)
            future.add_done_callback(lambda _: wake(self.sessions))
            self.running.add(future)

    def claim(self) -> Job | None:
        with transaction(self.sessions, durable=False) as session:
            return queue.claim(session)

    def pause(self) -> float:
        """Seconds until there may be something to do that nobody rings for."""
        with snapshot(self.sessions) as session:
            due = queue.next_due(session)
        until = (due - now()).total_seconds() if due else self.settings.poll_interval
        return until if 0 < until < self.settings.poll_interval else self.settings.poll_interval

    def deliver(self, job: Job) -> None:
        try:
            self.handlers[job.name](**job.payload)
        except Exception:
            log.exception("job %s %s will be tried again", job.name, job.payload)
            self.again(job)
        else:
            failpoint("before-done")
            with transaction(self.sessions, durable=False) as session:
                queue.finish(session, job.id)

    def again(self, job: Job) -> None:
        """Delivers the job later; one that keeps failing is dropped, its row says why."""
        waits = self.settings.backoff
        with transaction(self.sessions, durable=False) as session:
            if job.deliveries > self.settings.max_tries:
                queue.finish(session, job.id)
            else:
                wait_s = waits[min(job.deliveries, len(waits)) - 1]
                queue.postpone(session, job.id, now() + timedelta(seconds=wait_s))
