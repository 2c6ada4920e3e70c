"""Control groups of both versions, on a tree of plain files: the kernel of one machine has only
one version. What the kernel then does is tested where it has it."""

import pytest

from app.sandbox import cgroup
from app.sandbox.cgroup import Group


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Makes a fake hierarchy; returns a function that states where this process is in it."""
    monkeypatch.setattr(cgroup, "_ROOT", tmp_path / "fs")
    monkeypatch.setattr(cgroup, "_OWN", tmp_path / "own")
    monkeypatch.setattr(cgroup, "_REMOVAL_TRIES", 1)

    def place(own: str, *directories: str):
        (tmp_path / "own").write_text(own)
        for directory in directories:
            (tmp_path / "fs" / directory).mkdir(parents=True)
        return tmp_path / "fs"

    return place


def only_group(parent):
    (group,) = parent.glob("attest-*")
    return group


def with_files(monkeypatch, *names):
    """New directories come with the kernel's files in them."""
    made = type(cgroup.Path()).mkdir

    def mkdir(path, *arguments, **options):
        made(path, *arguments, **options)
        if path.name.startswith("attest-"):
            for name in names:
                (path / name).write_text("")

    monkeypatch.setattr(type(cgroup.Path()), "mkdir", mkdir)


def test_version_2_puts_every_limit_into_one_group(tree, monkeypatch):
    root = tree("0::/service\n", "service")
    (root / "service" / "cgroup.controllers").write_text("cpu memory pids")
    with_files(monkeypatch, "memory.max", "memory.swap.max", "pids.max", "cpu.max")
    group = Group.create()
    assert group.unified
    group.limit_memory(512)
    directory = only_group(root / "service")
    assert (directory / "memory.max").read_text() == str((640 + 64) << 20)
    assert (directory / "memory.swap.max").read_text() == "0"
    assert (directory / "pids.max").read_text() == "64"
    assert (directory / "cpu.max").read_text() == "200000 100000"
    (directory / "memory.events").write_text("low 0\noom 3\noom_kill 2\n")
    assert group.oom_kills() == 2


def test_version_2_asks_for_each_controller_by_itself(tree, monkeypatch):
    root = tree("0::/service\n", "service")
    (root / "service" / "cgroup.controllers").write_text("memory pids")
    asked = []
    written = type(cgroup.Path()).write_text

    def write_text(path, text, *arguments, **options):
        if path.name == "cgroup.subtree_control":
            asked.append(text)
            if text == "+memory":
                raise OSError
        return written(path, text, *arguments, **options)

    monkeypatch.setattr(type(cgroup.Path()), "write_text", write_text)
    cgroup.own_directories()
    assert asked == ["+memory", "+pids", "+cpu"]


def test_version_1_uses_a_group_per_controller(tree, monkeypatch):
    own = "3:memory:/a\n2:pids:/b\n1:cpu,cpuacct:/c\n0::/\n"
    root = tree(own, "memory/a", "pids/b", "cpu/c")
    with_files(monkeypatch, "memory.limit_in_bytes", "memory.swappiness", "cpu.cfs_quota_us")
    group = Group.create()
    assert not group.unified
    group.limit_memory(100)
    memory = only_group(root / "memory/a")
    assert (memory / "memory.limit_in_bytes").read_text() == str((125 + 64) << 20)
    assert (memory / "memory.swappiness").read_text() == "0"
    assert (only_group(root / "pids/b") / "pids.max").read_text() == "64"
    assert (only_group(root / "cpu/c") / "cpu.cfs_quota_us").read_text() == "200000"


def test_a_missing_processor_controller_is_no_reason_to_go_without_the_others(tree):
    root = tree("3:memory:/a\n2:pids:/b\n", "memory/a", "pids/b")
    assert Group.create() is not None
    assert only_group(root / "memory/a")


@pytest.mark.parametrize(
    "own", ["", "0::/elsewhere\n", "3:memory:/a\n", "3:memory:/x\n2:pids:/y\n"]
)
def test_without_a_group_to_write_to_there_is_none(tree, own):
    root = tree(own, "memory/a")
    assert Group.create() is None
    assert list(root.rglob("attest-*")) == []
    assert cgroup.version() == "none"


def test_groups_of_services_that_were_killed_are_removed(tree):
    root = tree("3:memory:/a\n2:pids:/b\n", "memory/a/attest-999999999-abc", "pids/b")
    Group.create()
    assert "999999999" not in only_group(root / "memory/a").name
