"""Waiting for a change of a row."""

import asyncio
from collections.abc import Collection
from pathlib import Path

from sqlalchemy.orm import Session

from app.db import Sessions
from app.http.changes import Changes
from app.jobs.bell import ring


class Rows:
    """States as a database would give them, and how often they were asked for."""

    def __init__(self) -> None:
        self.states: dict[str, str] = {}
        self.reads = 0

    def __call__(self, _session: Session, ids: Collection[str]) -> dict[str, str]:
        self.reads += 1
        return {id: state for id, state in self.states.items() if id in ids}


async def watched(database: Sessions, bell: Path, rows: Rows, steps: object) -> object:
    changes = Changes(database, bell)
    changes.start()
    try:
        return await steps(changes)
    finally:
        changes.stop()


def run(database: Sessions, bell: Path, rows: Rows, steps: object) -> object:
    return asyncio.run(asyncio.wait_for(watched(database, bell, rows, steps), 30))


def test_many_wait_with_one_question_at_a_time(database: Sessions, tmp_path: Path) -> None:
    rows, bell = Rows(), tmp_path / "bell"
    rows.states = {str(n): "queued" for n in range(101)}

    async def steps(changes: Changes) -> list[str | None]:
        waits = [changes.reached(rows, str(n), ("graded",), 20) for n in range(101)]
        told = asyncio.gather(*waits)
        await asyncio.sleep(0.05)
        rows.states = {str(n): "graded" for n in range(101)}
        ring(bell)
        return await told

    assert run(database, bell, rows, steps) == ["graded"] * 101
    assert rows.reads <= 110


def test_a_change_that_nobody_rang_for_is_seen_too(database: Sessions, tmp_path: Path) -> None:
    rows, bell = Rows(), tmp_path / "bell"

    async def steps(changes: Changes) -> str | None:
        told = asyncio.create_task(changes.reached(rows, "a", ("graded",), 20))
        await asyncio.sleep(0.05)
        rows.states["a"] = "graded"
        return await told

    assert run(database, bell, rows, steps) == "graded"


def test_waiting_ends_in_time_and_at_the_end_of_the_service(
    database: Sessions, tmp_path: Path
) -> None:
    rows, bell = Rows(), tmp_path / "bell"

    async def steps(changes: Changes) -> list[str | None]:
        first = await changes.reached(rows, "a", ("graded",), 0.01)
        second = asyncio.create_task(changes.reached(rows, "a", ("graded",), 1000))
        await asyncio.sleep(0.05)
        changes.release()
        return [first, await second, await changes.reached(rows, "a", ("graded",), 1000)]

    assert run(database, bell, rows, steps) == [None, None, None]


def test_a_beat_comes_while_nothing_changes(database: Sessions, tmp_path: Path) -> None:
    rows, bell = Rows(), tmp_path / "bell"
    rows.states["a"] = "queued"

    async def steps(changes: Changes) -> list[str | None]:
        told: list[str | None] = []
        async for state in changes.states(rows, "a", 1000, beat=0.05):
            told.append(state)
            if "queued" in told and told[-2:] == [None, None]:
                break
        return told

    told = run(database, bell, rows, steps)
    assert [state for state in told if state] == ["queued"]


def test_a_look_that_fails_ends_nobodys_waiting(database: Sessions, tmp_path: Path) -> None:
    bell = tmp_path / "bell"
    tries = []

    def unsteady(_session: Session, _ids: Collection[str]) -> dict[str, str]:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("the disk hiccups")
        return {"a": "graded"}

    async def steps(changes: Changes) -> str | None:
        return await changes.reached(unsteady, "a", ("graded",), 20)

    assert run(database, bell, Rows(), steps) == "graded"
