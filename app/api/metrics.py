"""What /metrics tells: requests as they were served, and the queue as it is."""

import time
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Histogram, disable_created_metrics
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy.orm import Session
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app import runs, workers
from app.db import Sessions, snapshot

PREFIX = "attest_"

disable_created_metrics()  # type: ignore[no-untyped-call]


class QueueCollector(Collector):
    """The queue and the runs, read when they are asked for."""

    def __init__(self, sessions: Sessions, stalled_after: float) -> None:
        self.sessions = sessions
        self.stalled_after = stalled_after

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """All gauges of the queue."""
        with snapshot(self.sessions) as session:
            yield from self._queue(session)
            yield self._runs(session)

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Nothing: the database is not asked while the registry is built."""
        return iter(())

    def _queue(self, session: Session) -> Iterator[GaugeMetricFamily]:
        found = workers.readiness(session, self.stalled_after)
        told = {
            "workers": ("Warm workers with a recent heartbeat.", found.workers),
            "jobs_waiting": ("Jobs that are due and not taken up.", found.waiting),
            "jobs_oldest_seconds": ("Age of the oldest job that waits.", found.oldest_waiting_s),
            "proofs_waiting": ("Problem versions that wait for a proof.", found.proving),
        }
        for name, (help_text, value) in told.items():
            yield GaugeMetricFamily(PREFIX + name, help_text, value=value)

    def _runs(self, session: Session) -> GaugeMetricFamily:
        family = GaugeMetricFamily(PREFIX + "runs", "Runs by status.", labels=["status"])
        for status, count in runs.counts(session).items():
            family.add_metric([status], count)
        return family


class RequestTimes:
    """Times every request, by its route's name: never by its path, which anybody can make up."""

    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        self.app = app
        self.histogram = Histogram(
            PREFIX + "request_seconds",
            "Time until a request was answered.",
            ["route", "status"],
            registry=registry,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.monotonic()
        status = 500

        async def with_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, with_status)
        finally:
            route = getattr(scope.get("route"), "name", "none")
            self.histogram.labels(route, status).observe(time.monotonic() - began)
