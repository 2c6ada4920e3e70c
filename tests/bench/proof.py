"""The proof of all problems on all cores against the forks that it makes."""

import threading
from collections.abc import Iterator
from pathlib import Path

from app.catalogue.folder import problem_files
from app.cli.check import Checked, check_files
from app.grading.prove import SEEDS
from app.sandbox.host import slots_for_all_cores
from app.sandbox.job import Answer, Job
from app.sandbox.sandbox import Sandbox
from tests.bench.floor import bare_fork
from tests.bench.row import Row, median, seconds

ROUNDS = 3
FORKS_A_ROUND = 200


class CountingSandbox(Sandbox):
    """Counts the forks that its forks ask for: one, and one more for each set of calls that must
    not know of the others."""

    forks = 0
    _counting = threading.Lock()

    def run(self, job: Job) -> list[Answer]:
        with self._counting:
            self.forks += len({call.fork for call in job.calls})
        return super().run(job)


def rows() -> Iterator[Row]:
    """`attest check problems/`: in all, and for one misconception."""
    files = problem_files(Path("problems"))
    slots = slots_for_all_cores()
    proofs, floors, checked = [], [], list[Checked]()
    with CountingSandbox(slots=slots) as sandbox, bare_fork() as fork:
        check_files(files, sandbox, slots, seeds=1)  # imports and caches are not what is measured
        sandbox.forks = 0
        for _ in range(ROUNDS):
            proofs.append(
                seconds(lambda: checked.extend(check_files(files, sandbox, slots, SEEDS)))
            )
            floors.append(median([fork.seconds() for _ in range(FORKS_A_ROUND)]) / 1000)
    forks = sandbox.forks / ROUNDS
    wrong = sum(len(one.proof.misconceptions) for one in checked if one.proof) / ROUNDS
    proof, floor = median(proofs), median(floors)
    yield Row(
        f"check of {len(files)} problems / {forks:.0f} bare forks",
        2,
        proof / (forks * floor),
        detail=f"{proof / 1000:.1f} s on {slots} cores against {forks * floor / 1000:.1f} s, "
        f"medians of {ROUNDS}",
    )
    yield Row(
        "check for each misconception / bare fork",
        2 * forks / wrong,
        proof / wrong / floor,
        detail=f"{proof / wrong:.1f} ms for each of {wrong:.0f}, {forks / wrong:.1f} forks each",
    )
