"""From a sent form to a student's work, or to the same form with what is wrong with it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from starlette.datastructures import FormData, UploadFile

from app.domain.problem import CodeProblem, FieldProblem, Problem
from app.domain.submission import Submission
from app.domain.words import Language
from app.errors import SubmissionTooLarge, UnreadableSubmission
from app.uploads.read import read_answers, read_files
from app.web.answer_form import FormField, empty_form, read_form
from app.web.words import phrase

TYPED_FILE = "submission.py"
FILES, CODE, ANSWERS = "files", "code", "answers"
TEXT = "submission.text"  # no field can be called that


@dataclass(frozen=True)
class Draft:
    """The forms of a problem. ``part`` is the one that was sent, with its ``error``; "" before."""

    fields: list[FormField] = field(default_factory=list)
    code: str = ""
    text: str = ""
    part: str = ""
    error: str = ""
    status: int = 200


@dataclass(frozen=True)
class Sent:
    """What came: the part of the page it came from, texts by name of the input, and files."""

    part: str
    texts: Mapping[str, str]
    files: Sequence[tuple[str, bytes]]

    @property
    def code(self) -> str:
        """The code as it was typed; browsers end lines as in mails."""
        return self.texts.get(CODE, "").replace("\r\n", "\n")


async def read_sent(form: FormData) -> Sent:
    """The form's texts and files; an input without a chosen file counts for nothing."""
    uploads = [file for file in form.getlist("file") if isinstance(file, UploadFile)]
    files = [(file.filename, await file.read()) for file in uploads if file.filename]
    texts = {name: value for name, value in form.items() if isinstance(value, str)}
    return Sent(texts.get("part", FILES), texts, files)


def empty_draft(problem: Problem, language: Language) -> Draft:
    """The forms with nothing in them but the starter."""
    if isinstance(problem, CodeProblem):
        return Draft(code=problem.starter)
    return Draft(fields=empty_form(problem.fields, language))


def work_of(problem: Problem, sent: Sent, language: Language, limit: int) -> Submission | Draft:
    """The work, as ``problem`` takes it, or the form to show again."""
    if sent.part == ANSWERS and not isinstance(problem, CodeProblem):
        return _answered(problem, sent, language)
    try:
        return _from_files(problem, sent, language, limit)
    except (UnreadableSubmission, SubmissionTooLarge) as refusal:
        empty = empty_draft(problem, language)
        code = sent.code if sent.part == CODE else empty.code
        error = refusal.told(language)
        return Draft(empty.fields, code, part=sent.part, error=error, status=refusal.status)


def _answered(problem: FieldProblem, sent: Sent, language: Language) -> Submission | Draft:
    answers, fields = read_form(problem.fields, sent.texts, language)
    text = sent.texts.get(TEXT, "")
    error = ""
    if any(each.error for each in fields):
        error = phrase("see_fields", language)
    elif not answers and not text.strip():
        error = phrase("nothing_filled", language)
    else:
        try:
            return read_answers(problem, answers, text)
        except UnreadableSubmission as unreadable:
            error = unreadable.told(language)
    return Draft(fields, text=text, part=ANSWERS, error=error, status=422)


def _from_files(problem: Problem, sent: Sent, language: Language, limit: int) -> Submission:
    files = [(TYPED_FILE, sent.code.encode())] if sent.part == CODE else sent.files
    if not files:
        raise UnreadableSubmission(phrase("no_file", language))
    ((name, count),) = Counter(name for name, _ in files).most_common(1)
    if count > 1:
        raise UnreadableSubmission(phrase("same_name", language, name=name))
    return read_files(problem, dict(files), limit)
