"""Settings: a flag beats the environment (``ATTEST_…``), the environment beats the default."""

from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat
from pydantic_settings import BaseSettings, SettingsConfigDict

MEGABYTE = 1024 * 1024

Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[FiniteFloat, Field(gt=0)]
Pause = Annotated[FiniteFloat, Field(ge=0)]


class JobSettings(BaseModel):
    """How runs are queued and tried. Times are in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    slots: Count = 2
    """Submissions that one worker grades at a time."""
    poll_interval: Seconds = 1.0
    """How often a worker looks for jobs although nothing woke it."""
    heartbeat_interval: Seconds = 3.0
    """How often a worker says that it is alive."""
    stalled_after: Seconds = 10.0
    """A worker without a heartbeat for so long counts as gone."""
    drain_timeout: Seconds = 30.0
    """How long running jobs may take to end when the worker is told to stop."""
    max_tries: Count = 3
    """Starts of one run before it counts as errored."""
    backoff: Annotated[tuple[Pause, ...], Field(min_length=1)] = (1.0, 5.0, 30.0)
    """Wait before each further try; the last holds for all that follow."""
    reconcile_interval: Seconds = 60.0
    """How often runs are looked for that no job would start."""
    reissue_after: Seconds = 120.0
    """Age from which an open run without a job gets a new one."""
    supersede: Literal["course", "never"] = "course"
    """"never" keeps every queued submission, whatever the course says."""


class RateSettings(BaseModel):
    """How often one may ask, each a minute."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    requests: Count = 120
    """Requests with one token or browser session."""
    posts: Count = 30
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
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    """Port that the service listens on; 0 is any free one."""
    problems: Path | None = None
    """Folder of problems; default ./problems if there is one, else the shipped examples."""
    sandbox_allow_level: Literal["full", "landlock"] = "full"
    """The weakest isolation that may grade."""
    sandbox_standby: Annotated[int, Field(ge=0, le=8)] = 1
    """Confined children that each slot keeps ready ahead of their job."""
    upload_limit: Count = 5 * MEGABYTE
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
        here, shipped = Path("problems"), Path(str(files("app") / "examples"))
        beside = shipped.parents[1] / "problems"  # in a checkout nothing is packed
        return next((folder for folder in (here, shipped) if folder.is_dir()), beside)
