"""From uploaded files to a submission of one kind of problem."""

from collections.abc import Iterable, Mapping
from pathlib import PurePath

from app.domain.answers import parse_answers, parse_json_object
from app.domain.problem import AnswerProblem, CodeProblem, Problem
from app.domain.quotation import quoted
from app.domain.submission import Submission
from app.errors import SubmissionTooLarge, UnreadableSubmission

SIZE_LIMIT = 5 * 1024 * 1024
COUNT_LIMIT = 50
NAME_LIMIT = 200  # bytes; file systems take 255


def check_sizes(files: Mapping[str, bytes], limit: int = SIZE_LIMIT) -> None:
    """Raises SubmissionTooLarge for more than 50 files or more than ``limit`` bytes in all."""
    if len(files) > COUNT_LIMIT:
        raise SubmissionTooLarge(f"{len(files)} files were sent; at most {COUNT_LIMIT} are taken")
    total = sum(map(len, files.values()))
    if total > limit:
        raise SubmissionTooLarge(f"the submission has {total} bytes; at most {limit} are taken")


def check_names(files: Iterable[str]) -> None:
    """Raises UnreadableSubmission for a name with folders, hidden, of nothing, too long, or not
    printable."""
    for name in files:
        plain = name.isprintable() and not {"/", "\\"} & set(name) and name.strip()
        if not plain or name.startswith(".") or len(name.encode()) > NAME_LIMIT:
            raise UnreadableSubmission(
                f"a file is called {quoted(name)}; expected a plain name such as attention.py"
            )


def read_files(problem: Problem, files: Mapping[str, bytes], limit: int = SIZE_LIMIT) -> Submission:
    """A submission from files as they were sent, by name, of at most ``limit`` bytes.

    Raises SubmissionTooLarge and UnreadableSubmission, naming the file and what was expected.
    """
    check_sizes(files, limit)
    check_names(files)
    if isinstance(problem, CodeProblem):
        return _code(problem, files)
    return _sheet(problem, files)


def read_answers(problem: Problem, answers: Mapping[str, object]) -> Submission:
    """A submission from a JSON object of answers. Raises UnreadableSubmission."""
    if not isinstance(problem, AnswerProblem):
        raise UnreadableSubmission(f"{problem.id} asks for code; send a .py file, not answers")
    parse_answers(problem.fields, answers)
    return Submission(answers=answers)


def _code(problem: CodeProblem, files: Mapping[str, bytes]) -> Submission:
    for name in files:
        if PurePath(name).suffix != ".py":
            raise UnreadableSubmission(f"{problem.id} takes .py files; {name!r} is none")
    return Submission(files=dict(files))


def _sheet(problem: AnswerProblem, files: Mapping[str, bytes]) -> Submission:
    if len(files) != 1:
        raise UnreadableSubmission(f"{problem.id} takes one .json file; {len(files)} were sent")
    name, data = next(iter(files.items()))
    if PurePath(name).suffix != ".json":
        raise UnreadableSubmission(f"{problem.id} takes a .json file of answers; {name!r} is none")
    if not data.strip():
        return Submission(files={name: data})
    return read_answers(problem, parse_json_object(data))
