"""The audit log only grows."""

import pytest
from sqlalchemy import delete, update
from sqlalchemy.exc import IntegrityError

from app import audit
from app.db import Sessions, snapshot, transaction
from app.models import Entry


@pytest.fixture
def entry(database: Sessions) -> None:
    with transaction(database) as session:
        audit.write(session, None, "override", "submission:7", {"before": 1, "after": 2})


@pytest.mark.usefixtures("entry")
def test_an_entry_says_who_did_what_with_which_values(database: Sessions) -> None:
    with snapshot(database) as session:
        (found,) = audit.about(session, "submission:7")
        assert (found.action, found.by_id) == ("override", None)
        assert found.details == {"before": 1, "after": 2}
        assert found.at.utcoffset() is not None


@pytest.mark.usefixtures("entry")
@pytest.mark.parametrize("act", [update(Entry).values(action="nothing"), delete(Entry)])
def test_an_entry_cannot_be_changed_or_deleted(database: Sessions, act: object) -> None:
    with (
        pytest.raises(IntegrityError, match="the audit log only grows"),
        transaction(database) as session,
    ):
        session.execute(act)  # type: ignore[call-overload]
    with snapshot(database) as session:
        assert [each.action for each in audit.about(session, "submission:7")] == ["override"]
