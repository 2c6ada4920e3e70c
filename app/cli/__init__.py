"""The command line. Each command imports only what it needs, so ``--help`` is quick."""

from app.cli.main import main

__all__ = ["main"]
