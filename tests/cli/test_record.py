"""``attest check --record``: what is proven is written down, what is not is taken out."""

import json
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from .conftest import ROOT, Attest

SHEETS = ("s34-a1-masked", "s34-lax")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of two problems that need no sandbox; the second lets a wrong answer through."""
    folder = tmp_path / "assignment1"
    folder.mkdir()
    good = folder / f"{SHEETS[0]}.yaml"
    shutil.copy(ROOT / "problems" / "assignment1" / good.name, good)
    text = good.read_text().replace(f"id: {SHEETS[0]}", f"id: {SHEETS[1]}", 1)
    (folder / f"{SHEETS[1]}.yaml").write_text(text.replace("atol: 1.0e-9", "atol: 9"))
    return tmp_path


def test_only_proven_problems_that_are_there_stand_in_the_record(attest: Attest, folder: Path):
    record = folder / "proofs.json"
    record.write_text(json.dumps({SHEETS[1]: "0" * 64, "gone": "1" * 64}))
    ended = attest("check", "--record", folder)
    assert ended.code == 1
    good = folder / "assignment1" / f"{SHEETS[0]}.yaml"
    assert json.loads(record.read_text()) == {SHEETS[0]: sha256(good.read_bytes()).hexdigest()}


def test_checking_one_file_keeps_the_record_of_the_others(attest: Attest, folder: Path):
    record = folder / "proofs.json"
    record.write_text(json.dumps({SHEETS[1]: "0" * 64}))
    ended = attest("check", "--record", folder / "assignment1" / f"{SHEETS[0]}.yaml")
    assert ended.code == 0
    assert sorted(json.loads(record.read_text())) == sorted(SHEETS)


def test_the_shipped_record_names_shipped_problems_alone():
    shipped = {path.stem for path in (ROOT / "problems").glob("*/*.yaml")}
    record = json.loads((ROOT / "problems" / "proofs.json").read_text())
    assert set(record) <= shipped
