"""``attest grade`` with a zip and with files in folders."""

import json
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MASKED = "s33-masked-attention"
MAIN = "from mymodel.layers import masked_attention\n"


@pytest.fixture
def work(tmp_path):
    """A folder with a package, and that folder as a zip."""
    right = (ROOT / "app/demo/right.py").read_text()
    files = {"main.py": MAIN, "mymodel/__init__.py": "", "mymodel/layers.py": right}
    with zipfile.ZipFile(tmp_path / "work.zip", "w") as made:
        for name, text in files.items():
            path = tmp_path / "hw" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            made.write(path, f"hw/{name}")
    return tmp_path


def test_a_zip_is_graded(attest, work):
    ended = attest("grade", MASKED, work / "work.zip")
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[0] == f"{MASKED} 10/10 graded"


def test_files_keep_their_folders(attest, work):
    files = [str(path.relative_to(work)) for path in sorted(work.rglob("*.py"))]
    ended = attest(
        "grade", MASKED, *files, "--json", cwd=work, ATTEST_PROBLEMS=str(ROOT / "problems")
    )
    assert ended.json["score"] == 10, ended.json["checks"]


def test_a_line_in_a_folder_is_told_by_its_path_also_to_gradescope(attest, work):
    (work / "hw/mymodel/layers.py").write_text("\n1 / 0\n")
    results = work / "results.json"
    files = [work / "hw/main.py", work / "hw/mymodel/layers.py"]
    ended = attest("grade", MASKED, *files, "--gradescope", results)
    assert ended.code == 1
    place = "(mymodel/layers.py, line 2)"
    assert place in " ".join(ended.out.split())
    assert place in json.loads(results.read_text())["tests"][0]["output"]


@pytest.mark.parametrize(
    ("name", "content", "status", "words"),
    [
        ("work.zip", b"", 422, "work.zip is broken, or no zip archive"),
        ("work.zip", b"PK\x03\x04" * 9, 422, "work.zip is broken, or no zip archive"),
        ("work.zip", b"PK\x05\x06" + bytes(18), 422, "there is no .py"),
        ("work.zip", b"PK\x01\x02" * 2001, 413, "more than 2000 entries"),
        ("work.tar", b"", 422, "'work.tar'"),
    ],
)
def test_what_cannot_be_unpacked_ends_with_2(name, content, status, words, attest, tmp_path):
    (tmp_path / name).write_bytes(content)
    ended = attest("grade", MASKED, tmp_path / name, "--json", isolated=False)
    assert (ended.code, ended.json["status"]) == (2, status)
    assert words in ended.json["detail"]
    assert "Traceback" not in ended.err
