"""What a fresh interpreter loads: who knows nothing of numpy stays quick, and cannot leak."""

import subprocess
import sys

import pytest

HEAVY = ("numpy", "torch", "reference", "app.grading", "app.sandbox")


def loaded(statements: str) -> set[str]:
    """Names of modules that a fresh interpreter has after ``statements``."""
    script = f"import sys\n{statements}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


@pytest.mark.parametrize(
    ("package", "module"),
    [("app.domain", "answers"), ("app.catalogue", "problem_file"), ("app.uploads", "read")],
)
def test_reading_problems_and_submissions_loads_no_numpy_and_no_reference(package, module):
    modules = loaded(
        "import importlib, pkgutil\n"
        f"import {package} as package\n"
        f"for module in pkgutil.iter_modules(package.__path__, {package!r} + '.'):\n"
        "    importlib.import_module(module.name)\n"
    )
    assert f"{package}.{module}" in modules
    assert not modules & set(HEAVY)


def test_help_loads_neither_the_graders_libraries_nor_the_problems():
    modules = loaded(
        "import contextlib, io\n"
        "from app.cli import main\n"
        "sys.argv = ['attest', '--help']\n"
        "shown = io.StringIO()\n"
        "with contextlib.redirect_stdout(shown), contextlib.suppress(SystemExit):\n"
        "    main()\n"
        "assert 'grade' in shown.getvalue() and 'check' in shown.getvalue()\n"
    )
    assert "app.cli.main" in modules
    assert not modules & {*HEAVY, "pydantic", "ruamel.yaml", "sqlalchemy", "fastapi"}
