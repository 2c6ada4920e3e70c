"""``attest submit``: send a submission, and wait for what comes of it."""

import json
import sys
from pathlib import Path

from app.cli.arguments import read_paths
from app.cli.output import exit_code
from app.client import FINAL, Client, find_login
from app.domain.words import Language
from app.settings import Settings

WAIT_S = 600.0


def run(problem: str, paths: list[Path], wait: bool, as_json: bool, lang: Language) -> int:
    """Sends and prints. Returns 0 for full marks (or once accepted, without ``wait``), else 1, or
    2 if we could not grade it."""
    files = read_paths(paths, Settings().upload_limit)
    with Client(find_login(), lang) as client:
        answer = client.submit(problem, files, wait_s=10.0 if wait else 0.0)
        number = str(answer["id"])
        if not wait:
            print(json.dumps(answer) if as_json else f"{number} {answer['status']}")
            return 0
        if answer["status"] not in FINAL:
            print(f"{number} is {answer['status']}; waiting (Ctrl-C ends that)", file=sys.stderr)
            answer = client.wait(number, WAIT_S)
        print(json.dumps(answer) + "\n" if as_json else client.report_text(number), end="")
        return exit_code(answer)
