"""Jupyter notebooks as they come in: their form and their code cells. No code is parsed here."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from app.domain.quotation import quoted
from app.errors import SubmissionTooLarge, UnreadableSubmission

SUFFIX = ".ipynb"
CELL_LIMIT = 1000
HINT = (
    "; a notebook is smaller without its outputs: clear them in Jupyter and save it again",
    "；笔记本去掉输出后会小一些：请在 Jupyter 中清除输出并重新保存",
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One code cell. ``number`` counts from 1 those that hold anything, as Jupyter counts them
    after Restart and Run All."""

    number: int
    text: str


def code_cells(name: str, data: bytes) -> list[Cell]:
    """The code cells of a notebook of format 4 that hold anything, in order; none of an empty file.

    Raises UnreadableSubmission for anything else, SubmissionTooLarge for more than 1000 cells.
    """
    cells = _cells(name, _read(name, data)) if data.strip() else []
    if len(cells) > CELL_LIMIT:
        raise SubmissionTooLarge(
            f"{name} has {len(cells)} cells; at most {CELL_LIMIT} are taken",
            f"{name} 有 {len(cells)} 个单元格；最多接受 {CELL_LIMIT} 个",
        )
    texts = [text for text in _code(name, cells) if text.strip()]
    return [Cell(number, text) for number, text in enumerate(texts, start=1)]


def _read(name: str, data: bytes) -> object:
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UnreadableSubmission(
            f"byte {error.start} of {name} is not UTF-8, expected a Jupyter notebook",
            f"{name} 的第 {error.start} 个字节不是 UTF-8，应为 Jupyter 笔记本",
        ) from None
    except json.JSONDecodeError as error:
        raise UnreadableSubmission(
            f"{name} is not JSON at line {error.lineno}, column {error.colno}; "
            "expected a Jupyter notebook: save it in Jupyter again",
            f"{name} 第 {error.lineno} 行第 {error.colno} 列不是 JSON；应为 Jupyter 笔记本：请在 "
            "Jupyter 中重新保存",
        ) from None
    except (RecursionError, ValueError):  # nested too deeply, an integer of too many digits
        raise UnreadableSubmission(
            f"{name} is not JSON that can be read, expected a Jupyter notebook",
            f"{name} 不是可读取的 JSON，应为 Jupyter 笔记本",
        ) from None


def _cells(name: str, book: object) -> list[object]:
    if isinstance(book, Mapping) and "worksheets" in book:
        raise UnreadableSubmission(
            f"{name} is a notebook of an old format (3); open it in Jupyter and save it again",
            f"{name} 是旧格式（3）的笔记本；请在 Jupyter 中打开并重新保存",
        )
    cells = book.get("cells") if isinstance(book, Mapping) else None
    if not isinstance(cells, list):
        raise UnreadableSubmission(
            f"{name} is no notebook: expected an object with a list `cells`",
            f"{name} 不是笔记本：应为带有列表 `cells` 的对象",
        )
    return cells


def _code(name: str, cells: list[object]) -> Iterator[str]:
    """The texts of the code cells; every cell is checked."""
    for position, cell in enumerate(cells):
        if not isinstance(cell, Mapping) or not isinstance(cell.get("cell_type"), str):
            raise _broken(name, position, cell, "an object with a `cell_type`")
        if cell["cell_type"] != "code":
            continue
        if not isinstance(cell.get("metadata", {}), Mapping):
            raise _broken(name, position, cell["metadata"], "an object of metadata")
        yield _text(name, position, cell.get("source"))


def _text(name: str, position: int, source: object) -> str:
    if isinstance(source, str):
        return source
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    raise _broken(name, position, source, "a `source` of text or a list of texts")


def _broken(name: str, position: int, found: object, expected: str) -> UnreadableSubmission:
    return UnreadableSubmission(
        f"{name} is a broken notebook: cells[{position}] holds {quoted(found)}, expected "
        f"{expected}",
        f"{name} 是损坏的笔记本：cells[{position}] 中有 {quoted(found)}；请在 Jupyter 中重新保存",
    )
