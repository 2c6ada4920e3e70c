"""``attest check``: the proof of problem files, as a kill matrix or as JSON."""

import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from app.catalogue.folder import problem_files, selected_files
from app.catalogue.problem_file import ProblemVersion, read_problem
from app.catalogue.proofs import read_proofs, write_proofs
from app.catalogue.source import read_source
from app.cli.kill_matrix import kill_matrix
from app.errors import AttestError, Place, ProblemFileError, SandboxUnavailable
from app.grading.proof import Flaw, Proof
from app.grading.prove import SEEDS, THOROUGH_SEEDS, prove
from app.sandbox.host import open_sandbox, slots_for_all_cores
from app.sandbox.sandbox import Sandbox
from app.settings import Settings


@dataclass(frozen=True)
class Checked:
    """One problem file with its proof, or with why there is none."""

    path: Path
    errors: tuple[Place, ...]
    proof: Proof | None = None
    sha256: str = ""
    warnings: tuple[Place, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.errors


def run(paths: list[Path], as_json: bool, thorough: bool, record: bool) -> int:
    """Proves every file. Returns 0 if all are proven, else 1."""
    settings = Settings()
    files = list(selected_files(paths or [settings.problems_folder]))
    slots = min(slots_for_all_cores(), len(files))
    with open_sandbox(settings, slots) as sandbox:
        checked = check_files(files, sandbox, slots, THOROUGH_SEEDS if thorough else SEEDS)
    if record:
        _record(checked)
    if as_json:
        print(json.dumps(as_object(checked), ensure_ascii=False))
    else:
        print("\n\n".join("\n".join(_lines(one)) for one in checked))
        print(f"\n{_totals_line(checked)}")
    return 0 if all(one.ok for one in checked) else 1


def check_files(files: list[Path], sandbox: Sandbox, at_once: int, seeds: int) -> list[Checked]:
    """Reads and proves every file, ``at_once`` of them side by side."""
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(lambda path: check_file(path, sandbox, seeds), files))


def _record(checked: list[Checked]) -> None:
    """Brings each folder's record up to date for the files that were checked."""
    for folder in {one.path.parent.parent for one in checked}:
        there = {path.stem for path in problem_files(folder)}
        known = {name: sha256 for name, sha256 in read_proofs(folder).items() if name in there}
        for one in checked:
            if one.path.parent.parent == folder:
                known.pop(one.path.stem, None)
                if one.sha256 and one.ok:
                    known[one.path.stem] = one.sha256
        write_proofs(folder, known)


def check_file(path: Path, sandbox: Sandbox, seeds: int) -> Checked:
    """Reads and proves one file; what is wrong with the problem is a value here."""
    try:
        version = read_problem(path)
        proof = prove(version.problem, sandbox, seeds)
    except ProblemFileError as error:
        return Checked(path, tuple(error.places))
    except SandboxUnavailable:
        raise  # nothing is known of the problem then
    except AttestError as error:
        return Checked(path, tuple(_places(version, [Flaw(("solution",), str(error))])))
    warnings = tuple(_places(version, proof.warnings))
    return Checked(path, tuple(_places(version, proof.flaws)), proof, version.sha256, warnings)


def _places(version: ProblemVersion, flaws: Iterable[Flaw]) -> list[Place]:
    found = list(flaws)
    if not found:
        return []  # reading the text again, for its places, takes longer than the rest
    source = read_source(Path(version.path), version.yaml)
    places = [source.place(flaw.location, flaw.message) for flaw in found]
    return sorted(places, key=lambda place: (place.line, place.column))


def as_object(checked: list[Checked]) -> dict[str, object]:
    """The object of ``check --json``."""
    rows = [row for one in checked if one.proof for row in one.proof.misconceptions.values()]
    return {
        "ok": all(one.ok for one in checked),
        "problems": [_problem_object(one) for one in checked],
        "totals": {
            "problems": len(checked),
            "misconceptions": len(rows),
            "samples": sum(one.proof.samples for one in checked if one.proof),
            "caught": sum(row.caught_by in row.caught for row in rows),
            "named": sum(row.named for row in rows),
        },
    }


def _problem_object(one: Checked) -> dict[str, object]:
    proof = one.proof
    return {
        "id": proof.problem.id if proof else one.path.stem,
        "path": str(one.path),
        "ok": one.ok,
        "errors": [_place_object(place) for place in one.errors],
        "checks": [check.id for check in proof.problem.checks] if proof else [],
        "accepted": dict(proof.accepted) if proof else {},
        "misconceptions": {
            name: {
                "caught_by": row.caught_by,
                "caught": list(row.caught),
                "named": row.named,
                "ok": row.ok,
            }
            for name, row in (proof.misconceptions.items() if proof else ())
        },
        "warnings": [_place_object(place) for place in one.warnings],
    }


def _place_object(place: Place) -> dict[str, object]:
    return {"line": place.line, "column": place.column, "message": place.message}


def _lines(one: Checked) -> list[str]:
    lines = [f"{one.path}: {'proven' if one.ok else 'NOT PROVEN'}"]
    lines += [f"  {place}" for place in one.errors]
    if one.proof:
        lines += kill_matrix(one.proof)
        lines += [f"  warning: {place}" for place in one.warnings]
    return lines


def _totals_line(checked: list[Checked]) -> str:
    rows = [row for one in checked if one.proof for row in one.proof.misconceptions.values()]
    proven = sum(one.ok for one in checked)
    samples = sum(one.proof.samples for one in checked if one.proof)
    return (
        f"{proven} of {len(checked)} problems proven; {samples} samples of texts; "
        f"{len(rows)} wrong answers, "
        f"{sum(row.caught_by in row.caught for row in rows)} caught, "
        f"{sum(row.named for row in rows)} named"
    )
