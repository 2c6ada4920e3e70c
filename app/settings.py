"""Settings: a flag beats the environment (``ATTEST_…``), the environment beats the default."""

from importlib.resources import files
from pathlib import Path
from typing import Literal

from pydantic_settings import BaseSettings, SettingsConfigDict

MEGABYTE = 1024 * 1024


class Settings(BaseSettings):
    """What an operator can set; nested ones as ``ATTEST_JOBS__MAX_TRIES``."""

    model_config = SettingsConfigDict(
        env_prefix="ATTEST_", env_nested_delimiter="__", extra="ignore", frozen=True
    )

    data: Path = Path("var")
    """Folder of everything that is kept."""
    problems: Path | None = None
    """Folder of problems; default ./problems if there is one, else the shipped examples."""
    sandbox_allow_level: Literal["full", "landlock"] = "full"
    """The weakest isolation that may grade."""
    upload_limit: int = 5 * MEGABYTE
    """Bytes of one submission."""

    @property
    def problems_folder(self) -> Path:
        """Where problems are read from."""
        if self.problems is not None:
            return self.problems
        here = Path("problems")
        return here if here.is_dir() else Path(str(files("app") / "examples"))
