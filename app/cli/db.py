"""``attest db``: the database's tables."""

from app import schema
from app.db import database_url, sessions
from app.errors import InvalidRequest
from app.settings import Settings

ACTIONS = ("upgrade", "current", "check")


def run(action: str) -> int:
    """Upgrades, tells the revision, or compares tables with models. Returns 1 if they differ."""
    if action not in ACTIONS:
        raise InvalidRequest(f"attest db {action}: expected one of {', '.join(ACTIONS)}")
    database = sessions(Settings())
    if action == "upgrade":
        schema.upgrade(database)
    found = schema.current(database)
    print(f"{database_url(Settings())}: revision {found or 'none'}, expected {schema.head()}")
    if action != "check":
        return 0
    schema.require_current(database)
    differences = schema.differences(database)
    for difference in differences:
        print(f"  {difference}")
    return 1 if differences else 0
