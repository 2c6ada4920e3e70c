"""What the jail shows: a Python, its shared libraries, numpy, torch, and nothing of ours.

Everything is on an allow-list. In particular site-packages is not shown as a whole (it may hold
the project itself, or an editable install's path to it) but only the distributions that a job may
import. Places are neutral, so that paths tell nothing about the host.
"""

import importlib.metadata
import os
import re
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path

PYTHON = "py/bin/python3"
PACKAGES = "sp"  # the jail's site-packages
OWN = "own"  # our files that run inside, as package ``jailed``

_IMPORTABLE = ("numpy", "torch", "msgspec")  # and what they require
_OWN_FILES = """
    calling config confine control failures hugepages landlock limits modules notebook
    notebook_module results runner sources syscalls wire zygote
"""
_DEVICES = ("dev/null", "dev/zero", "dev/random", "dev/urandom")
_LIBRARY_LINKS = ("lib", "lib64")


@dataclass
class Layout:
    """Places are paths below the jail's root, without the leading slash."""

    binds: list[tuple[str, str]] = field(default_factory=list)  # (path outside, place)
    links: list[tuple[str, str]] = field(default_factory=list)  # (link text, place)
    covers: list[str] = field(default_factory=list)

    def bind(self, source: str | Path, place: str) -> None:
        if os.path.exists(source):
            self.binds.append((str(source), place))

    def readable(self) -> list[str]:
        """The places that a job may read: all but our own files."""
        return [place for _, place in self.binds if not place.startswith((f"{OWN}/", "dev/"))]


def describe() -> Layout:
    """The layout for the running interpreter, in a virtual environment or not."""
    layout = Layout()
    _show_libraries(layout)
    _show_python(layout)
    _show_packages(layout)
    _show_own_files(layout)
    for device in _DEVICES:
        layout.bind(f"/{device}", device)
    _cover_checkout(layout)
    return layout


def _show_libraries(layout: Layout) -> None:
    """The dynamic linker's directories; of /usr/lib only this architecture's where it has one."""
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""
    by_architecture = multiarch and os.path.isdir(f"/usr/lib/{multiarch}")
    for place in _LIBRARY_LINKS:
        if os.path.islink(f"/{place}"):
            layout.links.append((f"usr/{place}", place))
        else:
            layout.bind(f"/{place}", place)
    if by_architecture:
        layout.bind(f"/usr/lib/{multiarch}", f"usr/lib/{multiarch}")
        layout.bind("/usr/lib/locale", "usr/lib/locale")
    else:
        layout.bind("/usr/lib", "usr/lib")
    layout.bind("/usr/lib64", "usr/lib64")
    layout.bind("/etc/ld.so.cache", "etc/ld.so.cache")
    for _, place in list(layout.binds):
        for python in Path("/", place).glob("python3*"):
            layout.covers.append(str(python).lstrip("/"))


def _show_python(layout: Layout) -> None:
    executable = getattr(sys, "_base_executable", "") or sys.executable
    layout.bind(os.path.realpath(executable), PYTHON)
    stdlib = Path(sysconfig.get_path("stdlib"))
    place = "py/" + os.path.relpath(stdlib, sys.base_prefix)
    layout.bind(stdlib, place)
    for directory in ("site-packages", "dist-packages"):
        if (stdlib / directory).is_dir():
            layout.covers.append(f"{place}/{directory}")
    for library in _loaded_interpreter_libraries():
        layout.bind(library, f"py/lib/{library.name}")


def _loaded_interpreter_libraries() -> list[Path]:
    """The libpython in use, if any. Not the one recorded at build time: prefixes get moved."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    paths = {Path(line.split(maxsplit=5)[-1]) for line in lines if "/libpython" in line}
    return sorted(path for path in paths if path.name.startswith("libpython"))


def _show_packages(layout: Layout) -> None:
    for name in sorted(_required_distributions()):
        distribution = importlib.metadata.distribution(name)
        tops = {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}
        for top in sorted(tops):
            layout.bind(str(distribution.locate_file(top)), f"{PACKAGES}/{top}")


def _required_distributions() -> set[str]:
    """The names of the importable distributions and of all they require, as installed."""
    found: set[str] = set()
    waiting = list(_IMPORTABLE)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found:
            continue
        try:
            requirements = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue  # required only elsewhere: another platform, another Python
        found.add(name)
        for requirement in requirements:
            parsed = re.match(r"[\w.-]+", requirement)
            if parsed and "extra ==" not in requirement:
                waiting.append(parsed[0])
    return found


def _show_own_files(layout: Layout) -> None:
    here = Path(__file__).parent
    for name in _OWN_FILES.split():
        layout.bind(here / f"{name}.py", f"{OWN}/jailed/{name}.py")


def _cover_checkout(layout: Layout) -> None:
    """Hide the project where it lies inside a directory that is shown, such as /usr/lib."""
    project = Path(__file__).resolve().parents[2]
    for source, place in list(layout.binds):
        if project != Path(source) and project.is_relative_to(source):
            layout.covers.append(f"{place}/{project.relative_to(source)}")


def link_farm(layout: Layout, view: Path) -> list[str]:
    """Lay the Python part of the layout out below ``view`` as links, where mounts are not allowed.

    Returns what a job may read: Landlock looks at where a link leads, so that is granted too.
    """
    covered = {view / place for place in layout.covers}
    readable = [str(view / "py"), str(view / PACKAGES)]
    for source, place in layout.binds:
        if place.startswith((f"{OWN}/", "py/", f"{PACKAGES}/")):
            readable += _link(Path(source), view / place, covered)
        elif not place.startswith("dev/"):
            readable.append(source)
    make_readable(view)
    own = str(view / OWN)
    return [path for path in readable if not path.startswith(own)]


def make_readable(directory: Path) -> None:
    """Let everybody read a directory that we filled, whatever our umask is."""
    directory.chmod(0o755)
    for folder, folders, files in os.walk(directory):
        for name in folders + files:
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(0o755 if name in folders else 0o644)


def _link(source: Path, target: Path, covered: set[Path]) -> list[str]:
    """Link one path; a directory with something covered in it becomes links to the rest."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if OWN in target.parts:
        target.write_bytes(source.read_bytes())
        return [str(target)]
    if not any(target in path.parents for path in covered):
        target.symlink_to(source)
        return [str(source)]
    target.mkdir(exist_ok=True)
    granted = []
    for child in source.iterdir():
        if target / child.name not in covered:
            granted += _link(child, target / child.name, covered)
    return granted
