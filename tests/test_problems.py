"""Problems: proposed, proven, served; a bad change never takes the good version away."""

import pytest

from app import audit, problems
from app.catalogue.problem_file import ProblemVersion, read_problem
from app.db import Sessions, snapshot, transaction
from app.errors import NotFound, Place
from app.jobs import live_tickets
from app.models import Problem

ID = "s34-a1-masked"


@pytest.fixture
def first(shipped) -> ProblemVersion:
    return shipped[ID]


def changed(version: ProblemVersion, mark: str) -> ProblemVersion:
    """The same problem with other bytes."""
    return read_problem(problems.Path(version.path), version.yaml + f"# {mark}\n".encode())


def served_sha(database: Sessions) -> str | None:
    with snapshot(database) as session:
        found = session.get(Problem, ID)
        return found.current_version.sha256 if found else None


def propose(database, version, *, proven=False):
    with transaction(database) as session:
        return problems.propose(session, version, None, proven=proven)


def test_a_new_problem_is_served_only_once_it_is_proven(database, members, first):
    version = propose(database, first)
    assert version.state == "proving"
    assert served_sha(database) is None
    with snapshot(database) as session:
        assert live_tickets(session) == {version.id}
    with transaction(database) as session:
        assert problems.publish(session, version.id, {"accepted": {}})
    assert served_sha(database) == first.sha256


def test_a_file_whose_hash_was_recorded_is_served_at_once(database, members, first):
    propose(database, first, proven=True)
    assert served_sha(database) == first.sha256


def test_a_refused_change_keeps_what_was_served(database, members, first):
    propose(database, first, proven=True)
    version = propose(database, changed(first, "worse"))
    with transaction(database) as session:
        problems.refuse(session, version.id, [Place("x", 7, 3, "the wrong answer survives")])
    assert served_sha(database) == first.sha256
    with snapshot(database) as session:
        found = problems.version(session, version.id)
        assert found.state == "refused"
        assert found.errors == [{"line": 7, "column": 3, "message": "the wrong answer survives"}]


def test_going_back_to_an_earlier_content_needs_no_new_proof(database, members, first):
    propose(database, first, proven=True)
    propose(database, changed(first, "second"), proven=True)
    assert served_sha(database) != first.sha256
    assert propose(database, first).state == "live"
    assert served_sha(database) == first.sha256


def test_a_slow_proof_does_not_replace_a_later_proposal(database, members, first):
    slow = propose(database, first)
    quick = propose(database, changed(first, "later"))
    with transaction(database) as session:
        assert problems.publish(session, quick.id, None)
    with transaction(database) as session:
        assert not problems.publish(session, slow.id, None)
    assert served_sha(database) == quick.sha256


def test_publishing_is_written_down_with_both_hashes(database, members, first):
    propose(database, first, proven=True)
    second = propose(database, changed(first, "second"), proven=True)
    with snapshot(database) as session:
        details = [entry.details for entry in audit.about(session, f"problem:{ID}")]
    assert [(each["before"], each["after"]) for each in details] == [
        (None, first.sha256),
        (first.sha256, second.sha256),
    ]


def test_members_see_the_problems_by_assignment_and_others_see_nothing(database, served):
    with snapshot(database) as session:
        seen = problems.visible(session, served.student)
        assert [(each.row.slug, [p.id for p in each.problems]) for each in seen] == [
            ("masks", ["s33-masked-attention"]),
            ("assignment1", [ID]),
        ]
        assert problems.visible(session, served.outsider) == []
        assert problems.find(session, served.student, ID).content.id == ID
        with pytest.raises(NotFound, match=f"no problem `{ID}`"):
            problems.find(session, served.outsider, ID)
        with pytest.raises(NotFound, match="no problem `x`"):
            problems.find(session, served.admin, "x")
