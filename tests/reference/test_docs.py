"""The map from claims to code names only what exists."""

import re
from importlib import import_module
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "reference.md").read_text(encoding="utf-8")
ROWS = re.findall(r"\| `([a-z0-9_.]+):(\w+)` \| `(\w+\.py)::(\w+)` \|$", PAGE, flags=re.MULTILINE)


def test_the_table_has_a_row_for_every_claim() -> None:
    table = PAGE.partition("## Claims")[2].partition("## Where")[0]
    assert len(ROWS) == len(re.findall(r"^\| (?:3\.|closed)", table, flags=re.MULTILINE)) > 35


@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]}:{row[1]}-{row[3]}" for row in ROWS])
def test_a_row_names_a_function_and_a_test_that_exist(row: tuple[str, ...]) -> None:
    module, function, file, test = row
    assert callable(getattr(import_module(f"reference.{module}"), function))
    source = (Path(__file__).parent / file).read_text(encoding="utf-8")
    assert f"def {test}(" in source
