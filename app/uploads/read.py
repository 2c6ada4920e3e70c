"""From uploaded files to a submission of one kind of problem."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath

from app.domain.answers import parse_answers, parse_json_object
from app.domain.problem import AnswerProblem, CodeProblem, Problem, TextProblem
from app.domain.quotation import quoted
from app.domain.submission import Submission
from app.errors import SubmissionTooLarge, UnreadableSubmission
from app.uploads import notebook
from app.uploads.archive import is_archive, unpack
from app.uploads.paths import depth, ending, is_plain, same

SIZE_LIMIT = 5 * 1024 * 1024
COUNT_LIMIT = 50
CODE_SUFFIXES = (".py", notebook.SUFFIX)


def check_sizes(files: Mapping[str, bytes], limit: int = SIZE_LIMIT) -> None:
    """Raises SubmissionTooLarge for more than 50 files or more than ``limit`` bytes in all."""
    if len(files) > COUNT_LIMIT:
        raise SubmissionTooLarge(
            f"{len(files)} files were sent; at most {COUNT_LIMIT} are taken",
            f"收到了 {len(files)} 个文件；最多接受 {COUNT_LIMIT} 个",
        )
    hint = notebook.HINT if any(ending(n) == notebook.SUFFIX for n in files) else ("", "")
    check_total(sum(map(len, files.values())), limit, hint)


def check_total(total: int, limit: int, hint: tuple[str, str] = ("", "")) -> None:
    """Raises SubmissionTooLarge for more than ``limit`` bytes, with a hint in both languages."""
    if total > limit:
        raise SubmissionTooLarge(
            f"the submission has {total} bytes; at most {limit} are taken{hint[0]}",
            f"提交共 {total} 字节；最多接受 {limit} 字节{hint[1]}",
        )


def check_names(files: Iterable[str]) -> None:
    """Raises UnreadableSubmission for a name that leads elsewhere, is hidden, of nothing, too long,
    or not printable."""
    for name in files:
        if not is_plain(name) or any(part.startswith(".") for part in name.split("/")):
            raise UnreadableSubmission(
                f"a file is called {quoted(name)}; expected a plain name such as attention.py or "
                "model/layers.py",
                f"有文件名为 {quoted(name)}；应为 attention.py 或 model/layers.py 之类的普通名称",
            )


def read_files(problem: Problem, files: Mapping[str, bytes], limit: int = SIZE_LIMIT) -> Submission:
    """A submission from files as they were sent, by name, of at most ``limit`` bytes.

    Raises SubmissionTooLarge and UnreadableSubmission, naming the file and what was expected.
    """
    check_sizes(files, limit)
    check_names(files)
    if isinstance(problem, CodeProblem):
        return _code(problem, files, limit)
    if isinstance(problem, TextProblem):
        return _essay(problem, files)
    return _sheet(problem, files)


def read_answers(
    problem: Problem, answers: Mapping[str, object], text: object = None
) -> Submission:
    """A submission from a JSON object of answers, a text, or both. Raises UnreadableSubmission."""
    if isinstance(problem, CodeProblem):
        raise UnreadableSubmission(
            f"{problem.id} asks for code; send a .py file, not answers",
            f"{problem.id} 要求提交代码；请提交 .py 文件，而不是答案",
        )
    parse_answers(problem.fields, answers)
    if isinstance(problem, TextProblem):
        return Submission(answers=answers, text=_checked_text(problem, text))
    if text:
        raise UnreadableSubmission(f"{problem.id} asks for no text", f"{problem.id} 不要求提交文字")
    return Submission(answers=answers)


def _checked_text(problem: TextProblem, text: object) -> str:
    """``text`` with plain line ends, if it can be kept and is not too long."""
    if text is None:
        return ""
    if not isinstance(text, str):
        raise UnreadableSubmission(
            f"text is {quoted(text)}; expected a string",
            f"text 为 {quoted(text)}；应为字符串",
        )
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in plain:
        raise UnreadableSubmission(
            "the text holds a NUL, which is not a character", "文字中有 NUL，它不是字符"
        )
    if len(plain) > problem.max_chars:
        raise UnreadableSubmission(
            f"the text has {len(plain)} characters; {problem.id} takes at most {problem.max_chars}",
            f"文字有 {len(plain)} 个字符；{problem.id} 最多接受 {problem.max_chars} 个",
        )
    return plain


def _code(problem: CodeProblem, files: Mapping[str, bytes], limit: int) -> Submission:
    for name in files:
        if ending(name) not in CODE_SUFFIXES and not is_archive(name):
            raise UnreadableSubmission(
                f"{problem.id} takes .py files and .ipynb notebooks; {name!r} is neither (data may "
                "come beside them in a .zip)",
                f"{problem.id} 接受 .py 文件与 .ipynb 笔记本；{name!r} 两者都不是（数据可与它们一起"
                "打包成 .zip）",
            )
    kept = _told_apart(_unpacked(files, limit), limit)
    if not any(ending(name) in CODE_SUFFIXES for name in kept):
        listed = ", ".join(files)
        raise UnreadableSubmission(
            f"there is no .py or .ipynb file in {listed}", f"{listed} 中没有 .py 或 .ipynb 文件"
        )
    for name, data in kept.items():
        if ending(name) == notebook.SUFFIX:
            notebook.code_cells(name, data)
    # Where several files define the entry, the first one counts.
    return Submission(files={name: kept[name] for name in sorted(kept, key=depth)})


def _unpacked(files: Mapping[str, bytes], limit: int) -> Iterator[tuple[str, str, bytes]]:
    """Path, place as it is told, and bytes of each file, those in archives among them."""
    for name, data in files.items():
        if not is_archive(name):
            yield name, quoted(name), data
            continue
        for path, content in unpack(name, data, limit):
            yield path, f"{quoted(path)} in {name}", content


def _told_apart(found: Iterable[tuple[str, str, bytes]], limit: int) -> dict[str, bytes]:
    """The files by path. Raises UnreadableSubmission where two cannot be told apart, or one is a
    folder of another, and SubmissionTooLarge as ``check_sizes``, before the next is unpacked."""
    kept: dict[str, bytes] = {}
    places: dict[str, str] = {}
    for name, place, data in found:
        path = _kept_path(name)
        if other := places.get(same(path)):
            raise UnreadableSubmission(
                f"two files have one name, {other} and {place}; nobody can know which is meant",
                f"两个文件同名：{other} 与 {place}；无法知道指的是哪一个",
            )
        kept[path], places[same(path)] = data, place
        check_sizes(kept, limit)
    for path in kept:
        for folder in PurePath(path).parents:
            if str(folder) in kept:
                place = places[same(str(folder))]
                raise UnreadableSubmission(
                    f"{place} is a file and a folder", f"{place} 既是文件又是文件夹"
                )
    return kept


def _kept_path(name: str) -> str:
    """The path as Python looks for modules: composed, and code with its ending in small letters."""
    path = unicodedata.normalize("NFC", name)
    suffix = ending(path)
    return str(PurePath(path).with_suffix(suffix)) if suffix in CODE_SUFFIXES else path


def _essay(problem: TextProblem, files: Mapping[str, bytes]) -> Submission:
    if len(files) != 1:
        raise UnreadableSubmission(
            f"{problem.id} takes one file; {len(files)} were sent",
            f"{problem.id} 只接受一个文件；收到了 {len(files)} 个",
        )
    name, data = next(iter(files.items()))
    suffix = ending(name)
    if suffix not in (".txt", ".md", ".json"):
        raise UnreadableSubmission(
            f"{problem.id} takes a .txt, .md or .json file; {name!r} is none of them",
            f"{problem.id} 接受 .txt、.md 或 .json 文件；{name!r} 都不是",
        )
    if not data.strip():
        return Submission(files={name: data})
    if suffix == ".json":
        return _stated(problem, parse_json_object(data))
    try:
        return read_answers(problem, {}, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UnreadableSubmission(
            f"byte {error.start} of {name} is not UTF-8: save the file in UTF-8",
            f"{name} 的第 {error.start} 个字节不是 UTF-8：请将文件保存为 UTF-8",
        ) from None


def _stated(problem: TextProblem, stated: Mapping[str, object]) -> Submission:
    unknown = sorted(stated.keys() - {"text", "answers"})
    if unknown:
        raise UnreadableSubmission(
            f"unknown key {quoted(unknown[0])}; expected text or answers",
            f"没有键 {quoted(unknown[0])}；应为 text 或 answers",
        )
    answers = stated.get("answers", {})
    if not isinstance(answers, Mapping):
        raise UnreadableSubmission(
            "answers is no object; expected the fields by name",
            "answers 不是对象；应按名称给出各字段",
        )
    return read_answers(problem, answers, stated.get("text"))


def _sheet(problem: AnswerProblem, files: Mapping[str, bytes]) -> Submission:
    if len(files) != 1:
        raise UnreadableSubmission(
            f"{problem.id} takes one .json file; {len(files)} were sent",
            f"{problem.id} 只接受一个 .json 文件；收到了 {len(files)} 个",
        )
    name, data = next(iter(files.items()))
    if ending(name) != ".json":
        raise UnreadableSubmission(
            f"{problem.id} takes a .json file of answers; {name!r} is none",
            f"{problem.id} 接受 .json 答案文件；{name!r} 不是",
        )
    if not data.strip():
        return Submission(files={name: data})
    return read_answers(problem, _unwrapped(problem, parse_json_object(data)))


def _unwrapped(problem: AnswerProblem, stated: Mapping[str, object]) -> Mapping[str, object]:
    """The fields, also where they stand in `answers`, as they are posted without a file."""
    inner = stated.get("answers")
    alone = stated.keys() == {"answers"} and "answers" not in problem.fields
    return inner if alone and isinstance(inner, Mapping) else stated
