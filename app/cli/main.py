"""The commands, and how each of them ends.

Exit codes: 0 full marks or all well, 1 less, 2 we could not do it. With ``--json`` stdout holds one
JSON object and nothing else; everything for people goes to stderr then.
"""

import io
import json
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

import typer

from app.cli.output import problem_object
from app.errors import AttestError, Place, ProblemFileError

app = typer.Typer(
    name="attest",
    help="Grades Transformer coursework and names the misunderstanding.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object to stdout.")]
Slots = Annotated[int | None, typer.Option(min=1, help="Submissions graded at a time.")]
Language = Annotated[
    Literal["en", "zh"], typer.Option("--lang", help="Of the report.", metavar="en|zh")
]
LARGEST_SEED = 2**63 - 1


@app.command()
def grade(
    problem: Annotated[str, typer.Argument(help="A problem's id, or the path of its YAML file.")],
    files: Annotated[list[Path], typer.Argument(help="The submission.", metavar="FILE...")],
    seed: Annotated[
        int | None, typer.Option(min=0, max=LARGEST_SEED, help="Replay a run with its seed.")
    ] = None,
    as_json: Json = False,
    lang: Language = "en",
    gradescope: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Also write a Gradescope results file.")
    ] = None,
) -> int:
    """Grade a submission here, without a server or a database."""
    from app.cli import grade as command

    return command.run(problem, files, seed, as_json, lang, gradescope)


@app.command()
def check(
    paths: Annotated[list[Path] | None, typer.Argument(help="Problem files or folders.")] = None,
    as_json: Json = False,
    thorough: Annotated[
        bool, typer.Option("--thorough", help="More seeds for accepted variants.")
    ] = False,
    record: Annotated[
        bool,
        typer.Option(
            "--record", help="Write what is proven to proofs.json in the problems' folder."
        ),
    ] = False,
) -> int:
    """Prove that problems accept right work and refuse every wrong answer they know."""
    from app.cli import check as command

    return command.run(paths or [], as_json, thorough, record)


@app.command()
def new(
    path: Annotated[str, typer.Argument(help="Where: ASSIGNMENT/ID.yaml, or an id.")],
    kind: Annotated[
        str | None, typer.Option(metavar="code|answer|text", help="Of problem.")
    ] = None,
    section: Annotated[str | None, typer.Option(help="Of the chapter, such as 3.3.")] = None,
    title_en: Annotated[str | None, typer.Option(help="Title in English.")] = None,
    title_zh: Annotated[str | None, typer.Option(help="Title in Chinese.")] = None,
    points: Annotated[str | None, typer.Option(help="In all; 10 if not said.")] = None,
    entry: Annotated[str | None, typer.Option(help="Name of the student's function.")] = None,
    assignment: Annotated[str | None, typer.Option(help="Folder of the id.")] = None,
) -> int:
    """Write a problem file to begin with; a terminal is asked for what is missing."""
    from app.cli import new as command

    flags = {
        "kind": kind,
        "section": section,
        "title_en": title_en,
        "title_zh": title_zh,
        "points": points,
        "entry": entry,
    }
    return command.run(path, assignment, flags)


@app.command()
def preview(
    file: Annotated[Path, typer.Argument(help="A problem file.")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free one.")] = 0,
) -> int:
    """Show the page of a problem file as students see it, and follow every save."""
    from app.cli import preview as command

    return command.run(file, port)


@app.command()
def login(
    server: Annotated[str | None, typer.Option(envvar="ATTEST_SERVER", help="Address.")] = None,
    token: Annotated[
        str | None, typer.Option(envvar="ATTEST_TOKEN", help="Asked for if it is not given.")
    ] = None,
) -> int:
    """Keep a server and a token for submit and status."""
    from app.cli import login as command

    return command.run(server, token)


@app.command()
def submit(
    problem: Annotated[str, typer.Argument(help="A problem's id.")],
    files: Annotated[list[Path], typer.Argument(help="The submission.", metavar="FILE...")],
    wait: Annotated[bool, typer.Option(help="Wait for the report.")] = True,
    as_json: Json = False,
    lang: Language = "en",
) -> int:
    """Send a submission to the server and show its report."""
    from app.cli import submit as command

    return command.run(problem, files, wait, as_json, lang)


@app.command()
def status(
    submission: Annotated[str | None, typer.Argument(metavar="[ID]", help="Of one.")] = None,
    as_json: Json = False,
    lang: Language = "en",
) -> int:
    """Show your newest submissions, or the report of one."""
    from app.cli import status as command

    return command.run(submission, as_json, lang)


@app.command()
def schema() -> int:
    """Print the JSON Schema of problem files."""
    from app.cli import schema as command

    return command.run()


@app.command()
def doctor(as_json: Json = False) -> int:
    """Say what isolation this host allows, and what would lift it."""
    from app.cli import doctor as command

    return command.run(as_json)


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="0: any free one.")] = None,
    slots: Slots = None,
    no_worker: Annotated[
        bool, typer.Option("--no-worker", help="Accept, and grade later.")
    ] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="Make a demo course and print its keys.")
    ] = False,
    once: Annotated[
        bool, typer.Option("--once", help="Grade the built-in submissions and end.")
    ] = False,
) -> int:
    """Run the service: API, pages and one worker."""
    from app.cli import serve as command

    return command.run(host, port, slots, not no_worker, demo, once)


@app.command()
def worker(slots: Slots = None) -> int:
    """Grade what the service accepts; on SQLite one worker at a time."""
    from app.cli import worker as command

    return command.run(slots)


@app.command()
def token(
    email: Annotated[str, typer.Argument(help="Whose token.")],
    name: Annotated[str | None, typer.Option(help="Name of a new person.")] = None,
    role: Annotated[
        str | None, typer.Option(metavar="student|ta|instructor|admin", help="Role in the course.")
    ] = None,
    label: Annotated[str, typer.Option(help="What the token is for.")] = "command line",
    days: Annotated[int | None, typer.Option(min=1, help="Ends after so many days.")] = None,
) -> int:
    """Print a new token; it is shown only now."""
    from app.cli import token as command

    return command.run(email, name, role, label, days)


@app.command()
def db(action: Annotated[str, typer.Argument(metavar="upgrade|current|check")]) -> int:
    """Bring the database's tables up to date, or tell how they stand."""
    from app.cli import db as command

    return command.run(action)


def main() -> None:
    """The console script: runs one command and ends the process with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # Reports are in two languages and quote students: a plain locale must not end them.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        code = app(standalone_mode=False)
    except typer.Exit as end:
        code = end.exit_code
    except typer.TyperException as error:
        code = _fail(error.format_message(), 400)
    except AttestError as error:
        places = error.places if isinstance(error, ProblemFileError) else []
        language = "zh" if _asks_for_chinese(sys.argv) else "en"
        code = _fail(error.told(language), error.status, places, getattr(error, "details", None))
    except (KeyboardInterrupt, typer.Abort):
        code = _fail("interrupted", 500)
    except BrokenPipeError:
        code = 1
    except Exception as error:  # noqa: BLE001 - a person gets a sentence, never our trace
        code = _fail(_unforeseen(error), 500)
    sys.exit(code if isinstance(code, int) else 0)


def _asks_for_chinese(arguments: Sequence[str]) -> bool:
    return "--lang=zh" in arguments or ("--lang", "zh") in pairwise(arguments)


def _unforeseen(error: Exception) -> str:
    from pydantic import ValidationError  # not for --help, which is quick

    if isinstance(error, ValidationError) and error.title == "Settings":
        return "; ".join(
            f"ATTEST_{'__'.join(map(str, e['loc'])).upper()} is {e['input']!r}: {e['msg']}"
            for e in error.errors()
        )
    return f"internal error: {type(error).__name__}: {error}"


def _fail(message: str, status: int, places: Sequence[Place] = (), details: object = None) -> int:
    print(f"attest: {message}", file=sys.stderr)
    if "--json" in sys.argv:
        print(json.dumps(details) if details else problem_object(message, status, places))
    return 2
