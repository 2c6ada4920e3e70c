"""The student's files as Python modules, found by Python's own import behind all libraries. In the
child."""

import importlib
import os
import sys
from collections.abc import Collection, Iterable
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from types import ModuleType

ROOT = "(submission)"
"""The package of files that no import reaches, as their name is a library's or none. No import
statement can name it."""


def is_called(name: str, file: str) -> bool:
    """Whether ``file`` means the file ``name``: it is its path, or what that ends with, or a
    notebook's but for its ending."""
    return f"/{name}".endswith((f"/{file}", f"/{file.removesuffix('.py')}.ipynb"))


class Modules:
    """The Python files ``names`` in ``directory``, where they lie already.

    They can import each other by their paths, or by what follows the folder of any of them, in any
    order; a library of the same name comes first. Made before the first of them runs.
    """

    def __init__(self, directory: str, names: Collection[str]) -> None:
        self._directory = directory
        root = sys.modules[ROOT] = ModuleType(ROOT)
        root.__path__ = [directory]
        tops = {_dotted(name).partition(".")[0] for name in names}
        self._hidden = {top for top in tops if "__init__.py" in names or _is_known(top)}
        # Last, so that a file called random.py hides nothing.
        sys.path.append(directory)
        sys.meta_path.append(_Beside({os.path.dirname(f"{directory}/{n}"): None for n in names}))

    def load(self, name: str) -> ModuleType:
        """The module of one file, run unless an import has done so. Raises what it raises."""
        dotted, path = _dotted(name), f"{self._directory}/{name}"
        if present := _present(dotted, path):
            return present
        if not self._is_found(dotted, path):
            return _alone(name, path)
        top = dotted.partition(".")[0]
        module = importlib.import_module(f"{ROOT}.{dotted}" if top in self._hidden else dotted)
        if not isinstance(module, ModuleType):
            raise TypeError(f"{name} has put what is no module in its place")
        return module

    def empty(self, name: str) -> ModuleType:
        """A new module for a file that Python itself cannot read, and no import finds: a .py file
        or a folder may have the same name."""
        module = sys.modules[f"{ROOT}.{name}"] = ModuleType(f"{ROOT}.{name}")
        module.__package__ = ""
        module.__file__ = f"{self._directory}/{name}"
        return module

    def _is_found(self, dotted: str, path: str) -> bool:
        """Whether an import from the directory leads to this file: a name may hold dots, or be that
        of a package too."""
        places, found = [self._directory], ""
        for part in dotted.split("."):
            spec = PathFinder.find_spec(part, places)
            if spec is None:
                return False
            places, found = list(spec.submodule_search_locations or []), spec.origin or ""
        return found == path


class _Beside:
    """Finds what lies in the folder of any file, once it is found nowhere else. Not by sys.path,
    where model/model.py would come before the folder model that has no __init__.py."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._folders = list(folders)

    def find_spec(
        self, name: str, path: object = None, _target: object = None
    ) -> ModuleSpec | None:
        """Of modules that lie in no package."""
        return PathFinder.find_spec(name, self._folders) if path is None else None


def _dotted(name: str) -> str:
    """The name of a file's module; "" for a package's file that lies in no folder."""
    stem = os.path.splitext(name)[0]
    return stem.removesuffix("__init__").rstrip("/").replace("/", ".")


def _is_known(name: str) -> bool:
    """Whether a module of that name is there without the student's files."""
    try:
        return find_spec(name) is not None
    except ValueError:  # no name, or one that was put in place without a file
        return True


def _present(dotted: str, path: str) -> ModuleType | None:
    """The file's module if it was imported, from its own folder or from one above."""
    parts = dotted.split(".")
    names = (".".join(parts[start:]) for start in range(len(parts)))
    found = (sys.modules.get(name) for name in names)
    return next((m for m in found if getattr(m, "__file__", None) == path), None)


def _alone(name: str, path: str) -> ModuleType:
    """Runs a file as a module that nothing imports by its name."""
    spec = spec_from_file_location(f"{ROOT}.{name.removesuffix('.py').replace('/', '.')}", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
