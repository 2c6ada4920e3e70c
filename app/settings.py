"""Settings: a flag beats the environment (``ATTEST_…``), the environment beats the default."""

from importlib.resources import files
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict
from pydantic_settings import BaseSettings, SettingsConfigDict

MEGABYTE = 1024 * 1024


class JobSettings(BaseModel):
    """How runs are queued and tried. Times are in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    slots: int = 2
    """Submissions that one worker grades at a time."""
    poll_interval: float = 1.0
    """How often a worker looks for jobs although nothing woke it."""
    heartbeat_interval: float = 3.0
    """How often a worker says that it is alive."""
    stalled_after: float = 10.0
    """A worker without a heartbeat for so long counts as gone."""
    drain_timeout: float = 30.0
    """How long running jobs may take to end when the worker is told to stop."""
    max_tries: int = 3
    """Starts of one run before it counts as errored."""
    backoff: tuple[float, ...] = (1.0, 5.0, 30.0)
    """Wait before each further try; the last holds for all that follow."""
    reconcile_interval: float = 60.0
    """How often runs are looked for that no job would start."""
    reissue_after: float = 120.0
    """Age from which an open run without a job gets a new one."""
    supersede: Literal["course", "never"] = "course"
    """"never" keeps every queued submission, whatever the course says."""


class RateSettings(BaseModel):
    """How often one may ask, each a minute."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    requests: int = 120
    """Requests with one token or browser session."""
    posts: int = 30
    """Submissions of one student to one problem."""


class Settings(BaseSettings):
    """What an operator can set; nested ones as ``ATTEST_JOBS__MAX_TRIES``."""

    model_config = SettingsConfigDict(
        env_prefix="ATTEST_", env_nested_delimiter="__", extra="ignore", frozen=True
    )

    data: Path = Path("var")
    """Folder of everything that is kept."""
    database_url: str | None = None
    """SQLAlchemy URL; default a SQLite file in ``data``."""
    host: str = "127.0.0.1"
    """Address that the service listens on."""
    port: int = 8000
    """Port that the service listens on; 0 is any free one."""
    problems: Path | None = None
    """Folder of problems; default ./problems if there is one, else the shipped examples."""
    sandbox_allow_level: Literal["full", "landlock"] = "full"
    """The weakest isolation that may grade."""
    upload_limit: int = 5 * MEGABYTE
    """Bytes of one submission."""
    jobs: JobSettings = JobSettings()
    """Queue and worker, each as ``ATTEST_JOBS__NAME``."""
    rates: RateSettings = RateSettings()
    """Rate limits, each as ``ATTEST_RATES__NAME``."""

    @property
    def problems_folder(self) -> Path:
        """Where problems are read from."""
        if self.problems is not None:
            return self.problems
        here = Path("problems")
        return here if here.is_dir() else Path(str(files("app") / "examples"))
