"""The kill matrix of a proof: which check refuses which wrong answer."""

from textwrap import wrap

from app.grading.proof import Caught, Proof

COLUMNS = 100


def kill_matrix(proof: Proof) -> list[str]:
    """A row for each wrong answer, a column for each check: X refused, . passed; the check that
    must refuse it stands in brackets. Checks have numbers where their names would be too wide."""
    checks = [check.id for check in proof.problem.checks]
    widest = max([len(name) for name in (*proof.misconceptions, *proof.accepted)], default=0)
    lines = _rows(proof, checks, checks, widest) if proof.misconceptions else []
    if max(map(len, lines), default=0) > COLUMNS:
        numbers = [str(number) for number in range(1, len(checks) + 1)]
        lines = [*_legend(checks), *_rows(proof, checks, numbers, widest)]
    accepted = [
        f"  {name:<{widest}} {'accepted' if ok else 'REFUSED'}"
        for name, ok in proof.accepted.items()
    ]
    return [*lines, *accepted]


def _legend(checks: list[str]) -> list[str]:
    named = ", ".join(f"{n}\N{NO-BREAK SPACE}{check}" for n, check in enumerate(checks, start=1))
    lines = wrap(f"checks: {named}", COLUMNS - 4, break_on_hyphens=False)
    return [f"  {line}".replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def _rows(proof: Proof, checks: list[str], heads: list[str], widest: int) -> list[str]:
    widths = [max(len(head), len("[X]")) for head in heads]
    columns = [f"{head:^{width}}" for head, width in zip(heads, widths, strict=True)]
    lines = [" ".join([" " * (widest + 2), *columns, "named"])]
    for name, row in proof.misconceptions.items():
        cells = [f"{_mark(c, row):^{width}}" for c, width in zip(checks, widths, strict=True)]
        lines.append(" ".join([f"  {name:<{widest}}", *cells, "yes" if row.named else "NO"]))
    return lines


def _mark(check: str, row: Caught) -> str:
    mark = "X" if check in row.caught else "."
    return f"[{mark}]" if check == row.caught_by else mark
