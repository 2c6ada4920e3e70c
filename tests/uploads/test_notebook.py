"""A notebook is taken as it is if its form is right, and refused in one sentence otherwise."""

import json
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.catalogue.problem_file import read_problem
from app.errors import SubmissionTooLarge, UnreadableSubmission
from app.sandbox.notebook import read_cells
from app.uploads.notebook import Cell, code_cells
from app.uploads.read import read_files

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def code():
    return read_problem(ROOT / "problems/masks/s33-masked-attention.yaml").problem


def cell(source: object, kind: object = "code", **more: object) -> dict[str, object]:
    return {"cell_type": kind, "metadata": {}, "source": source, **more}


def zipped(**files: bytes) -> bytes:
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def notebook(*cells: object, **more: object) -> bytes:
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, **more}).encode()


def test_a_notebook_is_kept_as_it_was_sent_with_its_outputs(code):
    data = b"\xef\xbb\xbf" + notebook(cell(["x = 1\n", "y"], outputs=[{"data": [float("nan")]}]))
    assert dict(read_files(code, {"hw.ipynb": data}).files) == {"hw.ipynb": data}


def test_python_of_any_kind_is_taken_unread(code):
    data = notebook(cell("def f(:"), cell("("), cell("%%bash\nrm -rf /"), cell("\0\ud800"))
    assert list(read_files(code, {"hw.ipynb": data, "a.py": b"x"}).files) == ["hw.ipynb", "a.py"]


def test_code_cells_that_hold_something_are_counted_as_jupyter_counts_them():
    data = notebook(cell("a"), cell("# text", "markdown"), cell(" \n"), cell(["b\n", "c"]))
    assert code_cells("hw.ipynb", data) == [Cell(1, "a"), Cell(2, "b\nc")]


@pytest.mark.parametrize("data", [b"", b" \n"])
def test_an_empty_file_is_taken_as_of_any_kind(data, code):
    assert read_files(code, {"hw.ipynb": data}).is_empty


def test_a_notebook_without_code_is_taken_as_a_file_without_a_function_is(code):
    assert not read_files(code, {"hw.ipynb": notebook()}).is_empty


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"def f(): ...", "hw.ipynb is not JSON at line 1, column 1; expected a Jupyter notebook"),
        (b"{", "hw.ipynb is not JSON at line 1, column 2"),
        (b"\xff{}", "byte 0 of hw.ipynb is not UTF-8"),
        (b"[" * 100_000, "hw.ipynb is not JSON that can be read"),
        (b'{"cells": ' + b"9" * 5000 + b"}", "hw.ipynb is not JSON that can be read"),
        (b"[]", "hw.ipynb is no notebook: expected an object with a list `cells`"),
        (b"{}", "hw.ipynb is no notebook"),
        (b'{"cells": {}}', "hw.ipynb is no notebook"),
        (b'{"worksheets": [], "nbformat": 3}', r"an old format \(3\); open it in Jupyter and save"),
        (notebook("x"), r"broken notebook: cells\[0\] holds 'x', expected an object with a `cell_"),
        (notebook(cell("x", 3)), r"cells\[0\] holds"),
        (
            notebook(cell("x"), cell(5)),
            r"cells\[1\] holds 5, expected a `source` of text or a list",
        ),
        (notebook(cell(["a", 5])), r"holds \['a', 5\], expected a `source`"),
        (notebook({"cell_type": "code"}), "holds None, expected a `source`"),
        (notebook(cell("x", metadata=[])), r"holds \[\], expected an object of metadata"),
        (notebook(cell("\u202e" * 999, 3)), r"\\u202e"),
    ],
)
def test_what_is_no_notebook_is_refused_with_what_was_found(data, words, code):
    with pytest.raises(UnreadableSubmission, match=words) as refusal:
        read_files(code, {"hw.ipynb": data})
    assert len(str(refusal.value)) < 300


def test_too_many_cells_are_refused(code):
    assert read_files(code, {"hw.ipynb": notebook(*[cell("x")] * 1000)})
    with pytest.raises(SubmissionTooLarge, match=r"hw\.ipynb has 1001 cells; at most 1000"):
        read_files(code, {"hw.ipynb": notebook(*[cell("x")] * 1001)})


def test_a_notebook_that_is_too_large_is_told_that_its_outputs_can_go(code):
    data = notebook(cell("x", outputs=["y" * 100]))
    with pytest.raises(SubmissionTooLarge, match="without its outputs: clear them in Jupyter"):
        read_files(code, {"hw.ipynb": data}, limit=100)


def test_a_notebook_in_an_archive_is_held_to_the_same_form(code):
    good = zipped(**{"hw.ipynb": notebook(cell("x")), "weights.txt": b"1"})
    assert list(read_files(code, {"hw.zip": good}).files) == ["hw.ipynb", "weights.txt"]
    with pytest.raises(UnreadableSubmission, match=r"hw\.ipynb is no notebook"):
        read_files(code, {"hw.zip": zipped(**{"hw.ipynb": b"{}"})})


KEYS = st.sampled_from(["cells", "cell_type", "source", "metadata", "tags", "worksheets", "x"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
CELLS = st.fixed_dictionaries(
    {}, optional={"cell_type": st.just("code") | JSON, "source": JSON, "metadata": JSON}
)


@given(st.fixed_dictionaries({"cells": st.lists(CELLS | JSON, max_size=4)}) | JSON)
def test_any_json_is_a_submission_or_is_refused(code, book):
    taken_or_refused(code, json.dumps(book).encode())


@given(st.binary(max_size=50))
def test_any_bytes_are_a_submission_or_are_refused(code, data):
    taken_or_refused(code, data)


def taken_or_refused(code, data: bytes) -> None:
    with suppress(UnreadableSubmission):  # nothing else may be raised
        assert read_files(code, {"hw.ipynb": data}).files == {"hw.ipynb": data}
        shown = [cell.number for cell in code_cells("hw.ipynb", data)]
        ran, passed_over = read_cells(data)  # as the sandbox reads what was taken
        assert passed_over or [cell.number for cell in ran] == shown
