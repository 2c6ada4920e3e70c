"""What a job can see: an interpreter, numpy, torch, its own files, and nothing of ours."""

import os
from textwrap import dedent

import pytest

from app.sandbox.job import Call, Job, Limits


def printed(answer) -> list[str]:
    assert answer.failure is None, answer.failure
    return answer.stdout.splitlines()


def run_without_landlock(bare, text):
    """Run ``f`` where the mounts alone must hide what is not for jobs."""
    job = Job({"work.py": dedent(text).encode()}, (Call("f", ()),), 1, Limits(30, 20))
    return bare.run(job)[0]


def test_no_file_of_the_project_or_its_metadata_is_visible(bare):
    answer = run_without_landlock(
        bare,
        """
        import os
        def f():
            seen = 0
            for folder, folders, files in os.walk("/"):
                for name in (*folders, *files):
                    seen += 1
                    words = ("attest", "problems", "jailed", "_editable")
                    if name.startswith(words) or folder == "/sp" and name in ("app", "reference"):
                        print(os.path.join(folder, name))
            return seen
        """,
    )
    assert printed(answer) == []
    assert answer.values[0].array > 10_000


def test_the_packages_shown_are_those_a_job_may_import(bare):
    answer = run_without_landlock(
        bare, "import os\ndef f():\n    print(*os.listdir('/sp'))\n    return 1\n"
    )
    shown = set(answer.stdout.split())
    assert {"numpy", "torch", "msgspec"} <= shown
    beside = run_without_landlock(
        bare,
        """
        import os, site
        def f():
            for folder in (os.path.dirname(os.__file__) + "/site-packages", "/sp"):
                if os.path.isdir(folder):
                    print(len(os.listdir(folder)) > 0)
            return 1
        """,
    )
    assert printed(beside)[-1] == "True"
    assert printed(beside)[:-1] in ([], ["False"])  # the interpreter's own packages are covered
    hidden = {"app", "pydantic", "sqlalchemy", "fastapi", "pyseccomp.py", "pip", "pytest"}
    assert not {name for name in shown if name in hidden or name.startswith(("attest", "_edit"))}


def test_the_root_holds_the_expected_directories_only(bare):
    answer = run_without_landlock(
        bare,
        """
        import os
        def f():
            for place in ("", "proc", "own", "old", "etc", "dev", "tmp"):
                print(*sorted(os.listdir("/" + place)))
            return 1
        """,
    )
    root, *others = printed(answer)
    assert root.replace("lib64 ", "") == "dev etc lib old own proc py sp tmp usr"
    assert others == ["", "", "", "ld.so.cache", "null random urandom zero", "submission"]


def test_with_landlock_not_even_names_outside_can_be_listed(run_one):
    for place in ("/", "/proc", "/dev", "/usr", "/own"):
        failure = run_one("import os\ndef f(p):\n    return len(os.listdir(p))\n", place).failure
        assert failure.error_type == "PermissionError"


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/etc/hostname",
        "/proc/self/environ",
        "/proc/1/maps",
        "/sys/kernel/version",
        "/own/jailed/runner.py",
        "/dev/shm",
        "/dev/tty",
        "/root",
        "/home",
        "/var",
        "/old",
        "{checkout}",
        "{checkout}/app/sandbox/runner.py",
        "{package}",
    ],
)
def test_other_places_do_not_exist_or_refuse(run_one, path):
    import app.sandbox

    package = os.path.dirname(app.sandbox.__file__)
    checkout = os.path.dirname(os.path.dirname(package))
    text = """
        import os
        def f(path):
            return len(os.listdir(path)) if os.path.isdir(path) else len(open(path, 'rb').read())
    """
    failure = run_one(text, path.format(checkout=checkout, package=package)).failure
    assert failure.error_type in ("FileNotFoundError", "PermissionError"), failure


def test_own_modules_cannot_be_read_or_imported_anew(run_one):
    answer = run_one(
        """
        import importlib, inspect, sys
        def f():
            runner = sys.modules["jailed.runner"]
            del sys.modules["jailed.runner"], sys.modules["jailed"]
            for attempt in (lambda: importlib.import_module("jailed.runner"),
                            lambda: inspect.getsource(runner),
                            lambda: importlib.import_module("app")):
                try:
                    attempt()
                except (ImportError, OSError):
                    print("refused")
            return 1
        """
    )
    assert printed(answer) == ["refused"] * 3


def test_the_environment_is_empty_and_few_descriptors_are_open(run_one):
    answer = run_one(
        """
        import ctypes, os
        def f():
            environ = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
            assert not environ or environ[0] is None
            assert not os.environ
            for fd in range(64):
                try:
                    os.fstat(fd)
                except OSError:
                    continue
                print(fd)
            return 1
        """
    )
    assert printed(answer) == ["0", "1", "2", "3"]


def test_names_and_numbers_tell_nothing_of_the_host(run_one):
    answer = run_one(
        """
        import os, sys, torch
        def f():
            print(os.uname().nodename, os.getpid(), os.getppid(), os.getuid())
            print(sys.prefix, sys.argv, torch.__file__, os.getcwd())
            print(*sys.path)
            return 1
        """
    )
    first, second, third = printed(answer)
    assert first == "box 1 0 0"
    assert second == "/py ['-c'] /sp/torch/__init__.py /tmp/submission"
    assert all(entry.startswith(("/py", "/sp", "/tmp/submission")) for entry in third.split())


def test_only_the_own_directory_can_be_written_to(run_one):
    answer = run_one(
        """
        import os, sys
        def f():
            for place in ("/", "/tmp", *sys.path, "/usr/lib", "/dev", os.path.dirname(os.__file__)):
                try:
                    open(os.path.join(place, "probe"), "w").close()
                    print(place)
                except OSError:
                    pass
            return 1
        """
    )
    assert printed(answer) == ["/tmp", "/tmp/submission"]


LEAVE = """
    import builtins, os, random, sys, tempfile
    import numpy as np, torch
    def poison():
        np.add = np.allclose = torch.allclose = builtins.sum = lambda *a, **k: 99
        sys.modules["json"] = None
        sys.path.insert(0, "/tmp")
        os.environ["LEFT"] = "over"
        open("/tmp/left", "w").write("CANARY" * 1000)
        open("left", "w").write("CANARY" * 1000)
        globals()["held"] = "CANARY" * 100_000
        return 1
    def look():
        import json, gc
        left = [o for o in gc.get_objects() if isinstance(o, str) and "CANARYCANARY" in o]
        files = os.listdir("/tmp") + os.listdir(".")
        print(*files, len(left), os.environ.get("LEFT"), np.add(2, 3), sum([1, 2]))
        return 1
"""


def test_nothing_of_one_job_is_seen_by_the_next_on_the_same_slot(lone):
    text = dedent(LEAVE).encode()
    (poisoned,) = lone.run(Job({"a.py": text}, (Call("poison", ()),), 1))
    (seen,) = lone.run(Job({"b.py": text}, (Call("look", ()),), 1))
    assert poisoned.failure is None
    assert printed(seen) == ["submission b.py 0 None 5 3"]
