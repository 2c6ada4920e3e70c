"""The folder of problems: one folder for each assignment, one YAML file for each problem."""

from collections.abc import Iterator
from pathlib import Path

from app.catalogue.problem_file import ProblemVersion, read_problem
from app.domain.quotation import nearest
from app.errors import UnknownProblem

NOT_PROBLEMS = {"assignment.yaml"}


def problem_files(folder: Path) -> list[Path]:
    """Every problem file below ``folder``, in order of assignment and name."""
    return sorted(p for p in folder.glob("*/*.yaml") if p.name not in NOT_PROBLEMS)


def find_problem(name: str, folder: Path) -> ProblemVersion:
    """Reads the problem of that id in ``folder``, or the YAML file of that path.

    Raises UnknownProblem, naming the id that was probably meant, and ProblemFileError.
    """
    if name.endswith((".yaml", ".yml")):
        return read_problem(_existing(Path(name)))
    files = problem_files(folder)
    named = [path for path in files if path.stem == name]
    if len(named) > 1:
        raise UnknownProblem(f"two files state the problem `{name}`: {named[0]} and {named[1]}")
    if named:
        return read_problem(named[0])
    near = nearest(name, [path.stem for path in files])
    meant = f"did you mean `{near}`?" if near else f"there are {len(files)} problems there"
    raise UnknownProblem(f"no problem `{name}` in {folder}; {meant}")


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise UnknownProblem(f"no such problem file: {path}")
    return path


def selected_files(paths: list[Path]) -> Iterator[Path]:
    """The problem files that ``paths`` name: files as they are, folders with all below them.

    Raises UnknownProblem for a path that does not exist and a folder without problems.
    """
    for path in paths:
        if not path.is_dir():
            yield _existing(path)
            continue
        inside = problem_files(path) or sorted(
            p for p in path.glob("*.yaml") if p.name not in NOT_PROBLEMS
        )
        if not inside:
            raise UnknownProblem(f"no problem files in {path}; expected ASSIGNMENT/ID.yaml")
        yield from inside
