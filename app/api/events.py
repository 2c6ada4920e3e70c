"""The live state of a submission, as server-sent events."""

import json
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Response
from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event
from starlette.concurrency import run_in_threadpool

from app import submissions
from app.api.errors import errors
from app.db import Sessions, snapshot
from app.http import access
from app.http.access import Database
from app.http.changes import Changes, WatchedChanges
from app.models import Person
from app.submissions import FINAL

router = APIRouter(tags=["submissions"])

HEARTBEAT_S = 15.0
LONGEST_S = 3600.0
EXAMPLE = 'event: status\ndata: {"id": "01926f3c", "status": "graded", "final": true}\nid: graded\n'
HEADERS = {"X-Accel-Buffering": "no", "Cache-Control": "no-store"}


@router.get(
    "/submissions/{submission_id}/events",
    response_class=Response,
    responses={
        **errors(404),
        200: {"description": "Events.", "content": {"text/event-stream": {"example": EXAMPLE}}},
        204: {"description": "`Last-Event-ID` was final: nothing will follow."},
    },
)
async def get_submission_events(
    submission_id: str,
    viewer: access.Student,
    database: Database,
    changes: WatchedChanges,
    last_event_id: Annotated[str | None, Header(include_in_schema=False)] = None,
) -> Response:
    """An event ``status`` now and at each change, until the status is final. Its data is
    ``{"id", "status", "final"}`` and its id the status, so that a reader who comes back misses
    nothing and hears nothing twice."""
    await run_in_threadpool(_refuse_strangers, database, viewer, submission_id)
    if last_event_id in FINAL:
        return Response(status_code=204)
    events = _events(changes, submission_id, last_event_id)
    return EventSourceResponse(events, headers=HEADERS)


def _refuse_strangers(database: Sessions, viewer: Person, submission_id: str) -> None:
    with snapshot(database) as session:
        submissions.status(session, viewer, submission_id)


async def _events(changes: Changes, submission_id: str, heard: str | None) -> AsyncIterator[bytes]:
    states = changes.states(submissions.statuses, submission_id, LONGEST_S, beat=HEARTBEAT_S)
    async for status in states:
        if status is None:
            yield KEEPALIVE_COMMENT
        elif status != heard:
            yield _event(submission_id, status)
        if status in FINAL:
            return


def _event(submission_id: str, status: str) -> bytes:
    data = {"id": submission_id, "status": status, "final": status in FINAL}
    return format_sse_event(event="status", id=status, data_str=json.dumps(data))
