"""What every part of the tests may ask for."""

import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app import db, jobs, people, problems, schema
from app.catalogue.folder import problem_files
from app.catalogue.problem_file import ProblemVersion, read_problem
from app.db import Sessions, transaction
from app.errors import SandboxUnavailable
from app.main import create_app
from app.models import Course, Person
from app.sandbox.sandbox import Sandbox
from app.settings import Settings
from app.worker import Grader

PROBLEMS = Path(__file__).resolve().parents[1] / "problems"

SANDBOX_LEVEL = "sandbox level"
"""The property of a test that says which level of isolation it has attacked."""

_levels: Counter[str] = Counter()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Counts the tests of each level, in whatever process they ran."""
    if report.when == "call":
        _levels.update(str(told) for name, told in report.user_properties if name == SANDBOX_LEVEL)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many tests attacked each level."""
    if _levels:
        counts = ", ".join(f"{count} at level {level}" for level, count in _levels.items())
        terminalreporter.write_line(f"sandbox tests: {counts}")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of ground truth and example submissions beside the checkout."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip(f"no ground truth on this machine: {folder} does not exist")
    return folder


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """A real sandbox with two slots, started once."""
    try:
        started = Sandbox(slots=2)
    except SandboxUnavailable as refusal:
        pytest.skip(str(refusal))
    with started:
        yield started


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with a data folder of their own and the shipped problems."""
    return Settings(data=tmp_path / "data", problems=PROBLEMS)


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database file with all tables, to be copied."""
    settings = Settings(data=tmp_path_factory.mktemp("migrated"))
    sessions = db.sessions(settings)
    schema.upgrade(sessions)
    sessions.kw["bind"].dispose()
    return settings.data / "attest.db"


@pytest.fixture
def database(settings: Settings, migrated: Path) -> Iterator[Sessions]:
    """A migrated SQLite file."""
    settings.data.mkdir()
    shutil.copy(migrated, settings.data)
    sessions = db.sessions(settings)
    yield sessions
    sessions.kw["bind"].dispose()


@dataclass(frozen=True)
class Members:
    """A course with one person of each kind, and two who are not in it."""

    course: Course
    student: Person
    classmate: Person
    ta: Person
    instructor: Person
    outsider: Person
    admin: Person


@pytest.fixture
def members(database: Sessions) -> Members:
    """The first course and its people."""
    with transaction(database) as session:
        course = people.default_course(session)
        names = ("student", "classmate", "ta", "instructor", "outsider", "admin")
        found = {name: people.add(session, name.title(), f"{name}@example.org") for name in names}
        found["admin"].is_admin = True
        people.enrol(session, found["student"], course, "student")
        people.enrol(session, found["classmate"], course, "student")
        people.enrol(session, found["ta"], course, "ta")
        people.enrol(session, found["instructor"], course, "instructor")
    return Members(course, **found)


@pytest.fixture(scope="session")
def shipped() -> dict[str, ProblemVersion]:
    """The problems of the repository, read once, by id."""
    names = {path.stem: path.relative_to(PROBLEMS) for path in problem_files(PROBLEMS)}
    return {n: read_problem(p, (PROBLEMS / p).read_bytes()) for n, p in names.items()}


@pytest.fixture
def served(database: Sessions, members: Members, shipped: dict[str, ProblemVersion]) -> Members:
    """The course with two problems that are live: s33-masked-attention and s34-a1-masked."""
    with transaction(database) as session:
        for name in ("s33-masked-attention", "s34-a1-masked"):
            problems.propose(session, shipped[name], None, proven=True)
    return members


@pytest.fixture
def with_text(database: Sessions, served: Members, shipped: dict[str, ProblemVersion]) -> str:
    """The id of a text problem that is live as well."""
    with transaction(database) as session:
        problems.propose(session, shipped["cb-query-axis-text"], None, proven=True)
    return "cb-query-axis-text"


Ask = Callable[[str | None], TestClient]


@pytest.fixture
def ask(settings: Settings, database: Sessions, served: Members) -> Iterator[Ask]:
    """Clients of the real application by who asks: a member's name, or None for nobody."""
    app = create_app(settings)
    with TestClient(app) as first:

        def client(name: str | None) -> TestClient:
            headers = {}
            if name:
                with transaction(database) as session:
                    token = people.issue_token(session, getattr(served, name))
                headers["Authorization"] = f"Bearer {token}"
            other = TestClient(app, headers=headers)
            other.portal = first.portal  # one event loop for all, as in the service
            return other

        yield client


@pytest.fixture
def worker(settings: Settings, database: Sessions, sandbox: Sandbox) -> Iterator[None]:
    """A worker in a thread of this process, over a real sandbox."""
    stop = threading.Event()
    grader = Grader(database, sandbox, settings.jobs.max_tries)
    handlers = {"grade": grader.grade, "prove": grader.prove}
    arguments = (database, handlers, 2, stop, settings.jobs)
    thread = threading.Thread(target=jobs.run_worker, args=arguments)
    thread.start()
    yield
    stop.set()
    jobs.wake(database)
    thread.join()
