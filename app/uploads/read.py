"""From uploaded files to a submission of one kind of problem."""

from collections.abc import Iterable, Mapping
from pathlib import PurePath

from app.domain.answers import parse_answers, parse_json_object
from app.domain.problem import AnswerProblem, CodeProblem, Problem, TextProblem
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
    if isinstance(problem, TextProblem):
        return _essay(problem, files)
    return _sheet(problem, files)


def read_answers(
    problem: Problem, answers: Mapping[str, object], text: object = None
) -> Submission:
    """A submission from a JSON object of answers, a text, or both. Raises UnreadableSubmission."""
    if isinstance(problem, CodeProblem):
        raise UnreadableSubmission(f"{problem.id} asks for code; send a .py file, not answers")
    parse_answers(problem.fields, answers)
    if isinstance(problem, TextProblem):
        return Submission(answers=answers, text=_checked_text(problem, text))
    if text:
        raise UnreadableSubmission(f"{problem.id} asks for no text")
    return Submission(answers=answers)


def _checked_text(problem: TextProblem, text: object) -> str:
    """``text`` with plain line ends, if it can be kept and is not too long."""
    if text is None:
        return ""
    if not isinstance(text, str):
        raise UnreadableSubmission(f"text is {quoted(text)}; expected a string")
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in plain:
        raise UnreadableSubmission("the text holds a NUL, which is not a character")
    if len(plain) > problem.max_chars:
        raise UnreadableSubmission(
            f"the text has {len(plain)} characters; {problem.id} takes at most {problem.max_chars}"
        )
    return plain


def _code(problem: CodeProblem, files: Mapping[str, bytes]) -> Submission:
    for name in files:
        if PurePath(name).suffix != ".py":
            raise UnreadableSubmission(f"{problem.id} takes .py files; {name!r} is none")
    return Submission(files=dict(files))


def _essay(problem: TextProblem, files: Mapping[str, bytes]) -> Submission:
    if len(files) != 1:
        raise UnreadableSubmission(f"{problem.id} takes one file; {len(files)} were sent")
    name, data = next(iter(files.items()))
    ending = PurePath(name).suffix
    if ending not in (".txt", ".md", ".json"):
        raise UnreadableSubmission(
            f"{problem.id} takes a .txt, .md or .json file; {name!r} is none of them"
        )
    if not data.strip():
        return Submission(files={name: data})
    if ending == ".json":
        return _stated(problem, parse_json_object(data))
    try:
        return read_answers(problem, {}, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UnreadableSubmission(
            f"byte {error.start} of {name} is not UTF-8: save the file in UTF-8"
        ) from None


def _stated(problem: TextProblem, stated: Mapping[str, object]) -> Submission:
    unknown = sorted(stated.keys() - {"text", "answers"})
    if unknown:
        raise UnreadableSubmission(f"unknown key {quoted(unknown[0])}; expected text or answers")
    answers = stated.get("answers", {})
    if not isinstance(answers, Mapping):
        raise UnreadableSubmission("answers is no object; expected the fields by name")
    return read_answers(problem, answers, stated.get("text"))


def _sheet(problem: AnswerProblem, files: Mapping[str, bytes]) -> Submission:
    if len(files) != 1:
        raise UnreadableSubmission(f"{problem.id} takes one .json file; {len(files)} were sent")
    name, data = next(iter(files.items()))
    if PurePath(name).suffix != ".json":
        raise UnreadableSubmission(f"{problem.id} takes a .json file of answers; {name!r} is none")
    if not data.strip():
        return Submission(files={name: data})
    return read_answers(problem, parse_json_object(data))
