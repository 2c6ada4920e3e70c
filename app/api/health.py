"""What an operator's tools ask: is it alive, does it grade, how much waits."""

import logging

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from sqlalchemy.exc import SQLAlchemyError

from app import schema, workers
from app.api.answers import Health, ReadinessDetails
from app.db import Sessions, snapshot
from app.errors import DatabaseUnfit
from app.http.access import Configuration, Database, Public

UNFIT = "the database is gone or of another version; `attest db current` tells more"

log = logging.getLogger(__name__)

router = APIRouter(tags=["health"], dependencies=[Public])


@router.get("/healthz")
async def healthz() -> Health:
    """The process is alive."""
    return Health()


@router.get("/readyz", responses={503: {"model": ReadinessDetails}})
def readyz(response: Response, database: Database, settings: Configuration) -> ReadinessDetails:
    """200 once the database fits and a worker is warm; 503 with the reason before. Submissions
    are accepted all the time."""
    details = readiness(database, settings.jobs.stalled_after)
    response.status_code = 200 if details.ready else 503
    return details


def readiness(database: Sessions, stalled_after: float) -> ReadinessDetails:
    """Whether submissions are graded now."""
    try:
        schema.require_current(database)
        with snapshot(database) as session:
            found = workers.readiness(session, stalled_after)
    except DatabaseUnfit as error:
        log.error("not ready: %s", error)  # it names files, which are nobody else's business
        return ReadinessDetails(ready=False, detail=UNFIT)
    except SQLAlchemyError as error:
        return ReadinessDetails(ready=False, detail=f"the database fails: {type(error).__name__}")
    return ReadinessDetails(
        ready=found.ready,
        detail="; ".join(found.reasons) or "a worker grades",
        sandbox_level=found.sandbox_level,
        workers=found.workers,
        waiting=found.waiting,
        oldest_waiting_s=found.oldest_waiting_s,
    )


@router.get("/metrics", response_class=Response)
def metrics(request: Request) -> Response:
    """Counts and times in the format of Prometheus."""
    return Response(generate_latest(request.app.state.registry), media_type=CONTENT_TYPE_LATEST)
