"""Problems: proposed as bytes, proven by a worker, then served. Versions are only ever added."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePath
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session, undefer

from app import audit, people
from app.catalogue.problem_file import ProblemVersion, read_problem
from app.domain.problem import Problem as Content
from app.domain.run import Json
from app.errors import NotFound, Place
from app.jobs import announce, enqueue
from app.models import Assignment, Person, Problem, ProblemFile, Version
from app.models.base import now
from app.people import Role

PROVE_PRIORITY = 1001  # before any submission: someone waits to see their problem live

_contents: dict[str, Content] = {}


@dataclass(frozen=True)
class ProblemView:
    """A problem that is served, as ``role`` may see it. ``content`` is its current version's."""

    row: Problem
    content: Content
    role: Role

    @property
    def version(self) -> Version:
        return self.row.current_version


@dataclass(frozen=True)
class FileView:
    """A file of the folder with the version that it states, None if it cannot be read, and whether
    that version, or any version of the problem of its name, is served."""

    row: ProblemFile
    version: Version | None
    served: Version | None

    @property
    def is_served(self) -> bool:
        return self.version is not None and self.version is self.served


@dataclass(frozen=True)
class AssignmentView:
    """An assignment with its problems, in order of their ids."""

    row: Assignment
    problems: list[Problem]


def content_of(version: Version) -> Content:
    """The problem that the version's bytes state; read once per process."""
    if version.sha256 not in _contents:
        _contents[version.sha256] = read_problem(Path(version.path), version.yaml).problem
    return _contents[version.sha256]


# Reading


def visible(session: Session, viewer: Person) -> list[AssignmentView]:
    """The assignments of the viewer's courses that have problems, in order."""
    courses = people.courses(session, viewer)
    rows = session.scalars(
        select(Problem)
        .join(Problem.assignment)
        .where(Assignment.course_id.in_(courses))
        .order_by(Assignment.position, Assignment.slug, Problem.id)
    )
    views: dict[str, AssignmentView] = {}
    for problem in rows:
        view = AssignmentView(problem.assignment, [])
        views.setdefault(problem.assignment_id, view).problems.append(problem)
    return list(views.values())


def find(session: Session, viewer: Person, problem_id: str) -> ProblemView:
    """The problem as it is served now. Raises NotFound, also for who is not in its course."""
    row = session.get(Problem, problem_id)
    role = people.role(session, viewer, row.assignment.course_id) if row else None
    if row is None or role is None:
        raise NotFound(f"no problem `{problem_id}`")
    return ProblemView(row, content_of(row.current_version), role)


def files(session: Session) -> list[FileView]:
    """What the folder held when it was last looked at; for staff."""
    found = session.execute(
        select(ProblemFile, Version)
        .outerjoin(Version, Version.sha256 == ProblemFile.sha256)
        .order_by(ProblemFile.path)
    )
    return [_file_view(session, file, version) for file, version in found]


def _file_view(session: Session, file: ProblemFile, version: Version | None) -> FileView:
    problem_id = version.problem_id if version else PurePath(file.path).stem
    problem = session.get(Problem, problem_id)
    return FileView(file, version, problem.current_version if problem else None)


def version(session: Session, version_id: str) -> Version:
    """One version, whatever its state. Raises NotFound."""
    found = session.get(Version, version_id)
    if found is None:
        raise NotFound(f"no version `{version_id}` of a problem")
    return found


def states(session: Session, version_ids: Collection[str]) -> dict[str, str]:
    """The states of versions, by id."""
    found = select(Version.id, Version.state).where(Version.id.in_(version_ids))
    return {row.id: row.state for row in session.execute(found)}


def version_with_yaml(session: Session, version_id: str) -> Version:
    """As ``version``, with its bytes."""
    return session.get_one(Version, version_id, options=[undefer(Version.yaml)])


# Proposing


def see_file(
    session: Session,
    path: str,
    sha256: str,
    seen: ProblemVersion | list[Place],
    *,
    proven: bool = False,
) -> None:
    """Takes note of a new or changed file of the folder: what it states, or its errors.

    ``path`` is relative to the folder. ``proven``: its hash stands in a proof record. A file with
    errors leaves what is served as it is; the errors are kept for staff.
    """
    file = session.get(ProblemFile, path) or ProblemFile(path=path)
    if file.sha256 == sha256:
        return
    file.sha256, file.seen_at = sha256, now()
    file.errors = _as_json(seen) if isinstance(seen, list) else []
    session.add(file)
    if isinstance(seen, ProblemVersion):
        propose(session, seen, None, proven=proven)


def forget_files(session: Session, gone: Iterable[str]) -> None:
    """Drops the errors of files that are no longer in the folder.

    What they stated is still served, and stays known, so that nothing changes if they come back.
    """
    for file in session.scalars(select(ProblemFile).where(ProblemFile.path.in_(list(gone)))):
        if file.errors:
            session.delete(file)


def propose(
    session: Session, found: ProblemVersion, by: Person | None, *, proven: bool = False
) -> Version:
    """The row of this version, published at once if it was proven before, else to be proven.

    ``found`` is what ``read_problem`` made of ``ASSIGNMENT/ID.yaml`` and its bytes.
    """
    version = session.scalar(select(Version).where(Version.sha256 == found.sha256))
    if version is None:
        version = _new_version(found)
        session.add(version)
    _contents[found.sha256] = found.problem
    version.proposed_at, version.path = now(), found.path
    version.by_id = by.id if by else None
    session.flush()
    if proven or version.state == "live":
        publish(session, version.id, None)
    else:
        version.state, version.errors = "proving", []
        order_proof(session, version)
    return version


def order_proof(session: Session, version: Version) -> None:
    """Asks a worker to prove the version."""
    payload = {"version_id": version.id, "ticket": version.id}
    enqueue(session, "prove", payload, priority=PROVE_PRIORITY)


def unproven(session: Session) -> list[Version]:
    """The versions that wait for a proof."""
    return list(session.scalars(select(Version).where(Version.state == "proving")))


def _new_version(found: ProblemVersion) -> Version:
    moment = now()
    return Version(
        problem_id=found.problem.id,
        sha256=found.sha256,
        yaml=found.yaml,
        path=found.path,
        title=asdict(found.problem.title),
        points=found.problem.points,
        kind=found.problem.kind,
        state="proving",
        errors=[],
        created_at=moment,
        proposed_at=moment,
    )


# Publishing


def publish(session: Session, version_id: str, proof: Mapping[str, Json] | None) -> bool:
    """Marks a version as proven and serves it, unless a later proposal is served already.

    ``proof`` is the kill matrix; None keeps what is known. Whether it is served now.
    """
    announce(session)
    version = session.get_one(Version, version_id)
    version.state, version.errors = "live", []
    if proof is not None:
        version.proof = dict(proof)
    problem = session.get(Problem, version.problem_id)
    if problem and problem.current_version.proposed_at > version.proposed_at:
        return False
    version.published_at = now()
    before = problem.current_version.sha256 if problem else None
    assignment = _assignment(session, version)
    if problem is None:
        problem = Problem(id=version.problem_id)
        session.add(problem)
    problem.assignment, problem.current_version = assignment, version
    by = session.get(Person, version.by_id) if version.by_id else None
    details: dict[str, Json] = {"before": before, "after": version.sha256, "path": version.path}
    audit.write(session, by, "publish", f"problem:{problem.id}", details)
    return True


def refuse(session: Session, version_id: str, places: Iterable[Place]) -> None:
    """Marks a version as not proven; what was served before is still served."""
    announce(session)
    version = session.get_one(Version, version_id)
    version.state, version.errors = "refused", _as_json(places)
    for file in session.scalars(select(ProblemFile).where(ProblemFile.sha256 == version.sha256)):
        file.errors = version.errors


def _assignment(session: Session, version: Version) -> Assignment:
    course = people.default_course(session)
    where = (Assignment.course_id == course.id, Assignment.slug == version.assignment)
    found = session.scalar(select(Assignment).where(*where))
    if found is None:
        slug = version.assignment
        found = Assignment(course_id=course.id, slug=slug, title={"en": slug, "zh": slug})
        found.position = session.scalar(select(func.count()).select_from(Assignment)) or 0
        session.add(found)
    return found


def _as_json(places: Iterable[Place]) -> list[Any]:
    return [
        {"line": place.line, "column": place.column, "message": place.message} for place in places
    ]
