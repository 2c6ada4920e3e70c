"""Several files, packages and folders: each imports what it would import at home, and no library is
ever replaced."""

import pytest

from app.domain.outcome import Outcome
from app.sandbox.job import Call, Job

F = (Call("f", ()),)


def load(sandbox, files, calls=F):
    return sandbox.run(Job({name: text.encode() for name, text in files.items()}, calls, 1))


def value(answers, number=0):
    assert answers[number].failure is None, answers[number].failure
    return answers[number].values[0].array.tolist()


ENTRY = "def f():\n    return two()\n"
TWO = "def two():\n    return 2\n"

HONEST = {
    "sibling": {"main.py": "from helpers import two\n" + ENTRY, "helpers.py": TWO},
    "sibling, sent first": {"a.py": TWO, "main.py": "from a import two\n" + ENTRY},
    "package": {
        "main.py": "from mypackage.layers import two\n" + ENTRY,
        "mypackage/__init__.py": "",
        "mypackage/layers.py": TWO,
    },
    "relative": {
        "mypackage/__init__.py": "from .main import f\n",
        "mypackage/main.py": "from .deep.layers import two\n" + ENTRY,
        "mypackage/deep/__init__.py": "",
        "mypackage/deep/layers.py": "from ..other import two\n",
        "mypackage/other.py": TWO,
    },
    "namespace package": {
        "main.py": "import parts.layers\ntwo = parts.layers.two\n" + ENTRY,
        "parts/layers.py": "from .other import two\n",
        "parts/other.py": TWO,
    },
    "sibling in a folder": {
        "src/main.py": "from helpers import two\n" + ENTRY,
        "src/helpers.py": TWO,
    },
    "sibling in a package": {
        "hw/__init__.py": "",
        "hw/main.py": "from helpers import two\n" + ENTRY,
        "hw/helpers.py": TWO,
    },
    "the files of a package without its folder": {
        "__init__.py": "from .main import f\n",
        "main.py": "from .helpers import two\n" + ENTRY,
        "helpers.py": TWO,
    },
    "a module in a folder of its name": {
        "main.py": "from model.layers import two\n" + ENTRY,
        "model/layers.py": TWO,
        "model/model.py": "",
    },
    "circle": {
        "main.py": "import helpers\ndef two():\n    return 2\ndef f():\n    return helpers.g()\n",
        "helpers.py": "import main\ndef g():\n    return main.two()\n",
    },
    "a module beside a package of its name": {
        "layers.py": "def g(): return 1\n",
        "layers/__init__.py": TWO,
        "main.py": "from layers import two\n" + ENTRY,
    },
    "a folder beside a module of its name": {
        "layers.py": TWO,
        "layers/more.py": "x = 1\n",
        "main.py": "from layers import two\n" + ENTRY,
    },
    "names of ours": {
        "runner.py": "from app.wire import two\n" + ENTRY,
        "app/wire.py": "from reference.ops import two\n",
        "reference/ops.py": TWO,
        "wire.py": "",
        "conftest.py": "",
    },
}


@pytest.mark.parametrize("files", HONEST.values(), ids=HONEST)
def test_files_import_each_other_as_they_do_at_home(sandbox, files):
    assert value(load(sandbox, files)) == 2


def test_a_circle_that_python_cannot_close_fails_as_in_python(sandbox):
    files = {"a.py": "from b import y\nx = 1\n", "b.py": "from a import x\ny = 2\n"}
    failure = load(sandbox, files)[0].failure
    assert (failure.outcome, failure.error_type, failure.file, failure.line) == (
        Outcome.LOAD_ERROR,
        "ImportError",
        "b.py",
        1,
    )
    assert "circular import" in failure.detail


def test_a_file_runs_once_however_it_is_imported(sandbox):
    count = "import builtins\nbuiltins.runs = getattr(builtins, 'runs', 0) + 1\n"
    files = {
        "src/main.py": "import helpers\nimport pkg.inner\ndef f():\n    return runs\n",
        "src/helpers.py": count,
        "pkg/__init__.py": "",
        "pkg/inner.py": "",
    }
    assert value(load(sandbox, files)) == 1


LIBRARIES = ["random", "numpy", "torch", "sympy", "wave", "filelock", "jailed", "sys", "__main__"]


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("form", ["{}.py", "{}/__init__.py", "{}/inner.py"])
def test_a_file_named_like_a_library_is_found_and_replaces_nothing(sandbox, name, form):
    mine = (
        "from dataclasses import dataclass\nimport pickle\n"
        "@dataclass\nclass P:\n    x: int\n"
        "def f():\n    return pickle.loads(pickle.dumps(P(2))).x\n"
        "if __name__ == '__main__':\n    1 / 0\n"
    )
    seen = (
        f"import sys\nimport {name} as before\nfrom pathlib import Path\n"
        "def theirs(module):\n    return '/submission' in str(getattr(module, '__file__', ''))\n"
        "def g():\n"
        "    import numpy.linalg, torch.nn, random\n"
        "    import torch._inductor.config, sympy\n"
        f"    libraries = [numpy, torch, random, sympy, sys.modules[{name!r}], before]\n"
        "    return [theirs(library) for library in libraries]\n"
    )
    files = {form.format(name): mine, "zz.py": seen}
    answers = load(sandbox, files, (*F, Call("g", ())))
    assert value(answers) == 2
    assert not any(value(answers, 1))


def test_a_package_named_like_a_library_has_its_own_relative_imports(sandbox):
    files = {
        "torch/__init__.py": "from .nn import two\n" + ENTRY,
        "torch/nn/__init__.py": "from ..layers import two\n",
        "torch/layers.py": TWO,
    }
    assert value(load(sandbox, files)) == 2


def test_a_file_put_deep_into_a_library_is_not_imported_by_the_library(sandbox):
    files = {
        "torch/_inductor/config.py": "raise SystemExit\ndef f(): ...\n",
        "main.py": "import torch._inductor.config\ndef f():\n    return 2\n",
    }
    failure = load(sandbox, files)[0].failure
    assert (failure.outcome, failure.file) == (Outcome.LOAD_ERROR, "torch/_inductor/config.py")
    files["torch/_inductor/config.py"] = "x = 1\n"
    assert value(load(sandbox, files)) == 2


@pytest.mark.parametrize(
    "name", ["v1.2/my work.py", "a.b/__init__.py", "-/-.py", "pkg/__main__.py"]
)
def test_a_path_need_not_be_one_that_can_be_imported(sandbox, name):
    text = "def f():\n    return 2\ndef g():\n    1 / 0\nif __name__ == '__main__':\n    1 / 0\n"
    answers = load(sandbox, {name: text}, (*F, Call("g", ())))
    assert value(answers) == 2
    assert (answers[1].failure.file, answers[1].failure.line) == (name, 4)


def test_an_error_in_a_package_is_placed_in_its_file(sandbox):
    files = {"main.py": "import pkg.inner\n", "pkg/inner.py": "\n\n1 / 0\n"}
    failure = load(sandbox, files)[0].failure
    assert (failure.outcome, failure.file, failure.line) == (
        Outcome.LOAD_ERROR,
        "pkg/inner.py",
        3,
    )


def test_packages_and_data_are_there_at_each_level(walled):
    files = {
        "main.py": "from pkg.deep.layers import two\nnumber = int(open('a b/数.txt').read())\n"
        "def f():\n    return two() * number\n",
        "pkg/deep/layers.py": "from ..other import two\n",
        "pkg/other.py": TWO,
        "a b/数.txt": "21",
    }
    assert value(load(walled, files)) == 42
    assert (
        value(load(walled, {"main.py": "import os\ndef f():\n    return len(os.listdir())\n"})) <= 2
    )


def test_data_files_are_found_by_their_paths_from_the_top(sandbox):
    files = {
        "main.py": "import pathlib\ntext = open('data/table.txt').read()\n"
        "beside = pathlib.Path(__file__).with_name('top.txt').read_text()\n"
        "def f():\n    return [len(text), len(beside)]\n",
        "data/table.txt": "12345",
        "top.txt": "1",
    }
    assert value(load(sandbox, files)) == [5, 1]


def test_of_several_files_with_the_entry_the_first_counts_and_imported_is_defined(sandbox):
    files = {
        "main.py": "from pkg import f\n",
        "other.py": "def f():\n    return 3\n",
        "pkg/__init__.py": "from .core import f\n",
        "pkg/core.py": "def f():\n    return 2\n",
    }
    calls = [Call("f", (), file=name) for name in (None, "other.py", "core.py", "pkg/core.py")]
    answers = load(sandbox, files, tuple(calls))
    assert [value(answers, n) for n in range(4)] == [2, 3, 2, 2]


def test_a_file_of_the_exact_name_comes_before_one_in_a_folder(sandbox):
    files = {"x/work.py": "def f():\n    return 1\n", "work.py": "def f():\n    return 2\n"}
    assert value(load(sandbox, files, (Call("f", (), file="work.py"),))) == 2
    assert load(sandbox, files, (Call("f", (), file="ork.py"),))[0].failure.outcome == (
        Outcome.NOT_DEFINED
    )


def test_a_file_that_is_no_module_in_the_end_is_a_load_error(sandbox):
    files = {"work.py": "import sys\nsys.modules[__name__] = 7\n"}
    failure = load(sandbox, files)[0].failure
    assert (failure.outcome, failure.file) == (Outcome.LOAD_ERROR, "work.py")
