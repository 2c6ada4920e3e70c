"""A zip becomes a submission, or one sentence that names the archive and the file."""

import io
import resource
import stat
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.catalogue.problem_file import read_problem
from app.domain.problem import CodeProblem
from app.errors import SubmissionTooLarge, UnreadableSubmission
from app.uploads import archive
from app.uploads.read import read_files

ROOT = Path(__file__).resolve().parents[2]
CODE = read_problem(ROOT / "problems/masks/s33-masked-attention.yaml").problem
F = b"def f(): return 7\n"
REFUSALS = (UnreadableSubmission, SubmissionTooLarge)


def packed(*files, method=zipfile.ZIP_DEFLATED):
    """A zip of (name or ZipInfo, bytes), in this order, whatever the names are."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        for name, data in files:
            info = name if isinstance(name, zipfile.ZipInfo) else zipfile.ZipInfo(name)
            info.compress_type = method
            made.writestr(info, data)
    return buffer.getvalue()


def entry(name, mode=0, **changes):
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    for key, value in changes.items():
        setattr(info, key, value)
    return info


def read(*files, name="work.zip", **more):
    return read_files(CODE, {name: packed(*files)}, **more)


def names(*files, **more):
    return list(read(*files, **more).files)


def refused(data, **more):
    with pytest.raises(REFUSALS) as refusal:
        read_files(CODE, {"work.zip": data}, **more)
    told = str(refusal.value)
    assert told.isprintable()
    assert len(told) < 250
    return told


# What is taken


def test_files_come_byte_for_byte_with_the_data_beside_them():
    files = {
        "main.py": b"\xef\xbb\xbfx = 1\r\n",
        "table.txt": b"1 2",
        "data/weights.npy": b"\x93NUMPY\0",
        "model/__init__.py": b"",
        "model/layers.py": F,
    }
    assert read(*reversed(files.items())).files == files
    assert read(*files.items(), name="Work.ZIP").files == files


def test_what_lies_higher_comes_first_and_then_the_alphabet():
    files = [(name, F) for name in ("b/a.py", "z.py", "a/b/c.py", "a.py", "a/z.py")]
    assert names(*files) == ["a.py", "z.py", "a/z.py", "b/a.py", "a/b/c.py"]


def test_files_of_one_request_are_sorted_by_depth_alone():
    sent = {"z.py": F, "deep/a.py": F, "b.py": F}
    sent["c.zip"] = packed(("a.py", F), ("x/y.py", F))
    assert list(read_files(CODE, sent).files) == ["z.py", "b.py", "a.py", "deep/a.py", "x/y.py"]


@pytest.mark.parametrize(
    ("packed_as", "kept_as"),
    [
        (["hw/a.py", "hw/b/c.py"], ["a.py", "b/c.py"]),
        (["hw/", "hw/a.py"], ["a.py"]),
        (["hw/a.py", "__MACOSX/hw/._a.py", ".DS_Store"], ["a.py"]),
        (["x/y/a.py"], ["y/a.py"]),
        (["hw/a.py", "b.py"], ["b.py", "hw/a.py"]),
        (["hw/a.py", "src/b.py"], ["hw/a.py", "src/b.py"]),
        (["pkg/a.py", "pkg/__init__.py"], ["pkg/__init__.py", "pkg/a.py"]),
    ],
)
def test_one_folder_around_all_is_taken_off_unless_it_is_a_package(packed_as, kept_as):
    assert names(*((name, b"") for name in packed_as)) == kept_as


CLUTTER = """__MACOSX/._a.py .DS_Store sub/.DS_Store __pycache__/a.cpython-311.pyc a.pyc b.PYO
    .git/config .ipynb_checkpoints/a.py Thumbs.db x/desktop.ini .idea/a.xml .vscode/settings.json
    .venv/lib/a.py venv/a.py node_modules/a.js .env .mypy_cache/x.json .pytest_cache/v/a
    .gitignore"""


@pytest.mark.parametrize("name", CLUTTER.split())
def test_clutter_is_left_out_silently(name):
    assert names((name, b"\0"), ("a.py", F)) == ["a.py"]


def test_clutter_counts_for_no_limit_but_that_of_entries():
    clutter = [(f".git/objects/{n}", b"x" * 1000) for n in range(400)]
    assert names(*clutter, ("a.py", F), limit=100_000) == ["a.py"]
    folders = [(f"f{n}/", b"") for n in range(400)]
    assert names(*folders, ("a.py", F)) == ["a.py"]


def without_flag(data):
    """The same archive without the flag that says that its names are UTF-8."""
    changed = bytearray(data)
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = -1
        while (start := changed.find(signature, start + 1)) >= 0:
            changed[start + at + 1] &= ~0x08
    return bytes(changed)


@pytest.mark.parametrize("encoding", ["gbk", "utf-8"])
def test_chinese_names_of_any_windows_are_read(encoding, monkeypatch):
    name = "作业/注意力乗.py"  # the second byte of 乗 is a backslash in GBK
    assert b"\\" in "乗".encode("gbk")
    monkeypatch.setattr(
        zipfile.ZipInfo, "_encodeFilenameFlags", lambda self: (self.filename.encode(encoding), 0)
    )
    assert names((name, F), ("作业/数据.txt", b"1")) == ["数据.txt", "注意力乗.py"]


def test_names_that_say_they_are_utf8_are_read_as_that():
    assert names(("作业/é.py", F)) == ["é.py"]
    assert list(read_files(CODE, {"a.zip": without_flag(packed(("作业/é.py", F)))}).files) == [
        "é.py"
    ]


def test_names_in_no_known_encoding_stay_as_they_are():
    data = packed(("a\u00ff\u00ff.py", F)).replace(
        "a\u00ff\u00ff.py".encode(), b"abc\xff\xff.py"[1:]
    )
    assert refused(data).startswith("work.zip is broken")
    odd = without_flag(packed(("\u00ffb.py", F)).replace("\u00ff".encode(), b"\xff\xff"))
    assert list(read_files(CODE, {"a.zip": odd}).files) == ["\u00a0\u00a0b.py"]


def test_names_are_composed_as_python_composes_them():
    assert names(("e\u0301.py", F)) == ["é.py"]


def test_an_empty_python_file_is_taken_and_is_empty():
    assert read(("a.py", b" \n")).is_empty
    assert not read(("a.py", b""), ("a.txt", b"1")).is_empty


def test_stored_and_deflated_files_and_a_program_in_front_are_taken():
    data = packed(("a.py", F), method=zipfile.ZIP_STORED)
    assert read_files(CODE, {"a.zip": data}).files == {"a.py": F}
    assert read_files(CODE, {"a.zip": b"#!/bin/sh\n" + data}).files == {"a.py": F}


def test_sizes_of_64_bits_are_taken_where_they_are_true():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made, made.open("a.py", "w", force_zip64=True) as member:
        member.write(F)
    assert read_files(CODE, {"a.zip": buffer.getvalue()}).files == {"a.py": F}


def test_limits_are_reached_exactly():
    files = [(f"f{n}.py", b"x" * 10) for n in range(50)]
    assert len(names(*files, limit=10_000)) == 50
    assert names(("a.py", b"#" * 50_000), limit=50_000) == ["a.py"]
    repetitive = b"#" * archive.RATIO_FREE
    assert names(("a.py", repetitive)) == ["a.py"]


# What is refused, each with its sentence


@pytest.mark.parametrize(
    "name",
    ["../a.py", "/a.py", "a/../../b.py", "a//b.py", "./a.py", "a/./b.py", "C:/a.py", "c:a.py",
     "a\\b.py", "..\\a.py", "\\\\server\\a.py", "a\x07.py", "a\n.py", "\x1b[2J.py", "\u202eyp.a",
     "n" * 201 + ".py", "\u0958" * 60 + ".py", "a/" * 9 + "b.py",
     "d" * 150 + "/" + "e" * 150 + "/" + "f" * 150 + ".py",
     "../", "/", "a//", "__MACOSX/../../a.py", ".git/../a.py", "..", " /a.py", " "],
)  # fmt: skip
def test_a_path_that_leads_elsewhere_or_cannot_be_shown_is_refused(name):
    told = refused(packed((name, F), ("good.py", F)))
    assert told.startswith("work.zip holds ")
    assert "expected short relative paths" in told


def test_a_name_with_a_nul_is_refused():
    told = refused(packed(("aXb.py", F)).replace(b"aXb.py", b"a\0b.py"))
    assert "'a\\x00b.py'" in told


@pytest.mark.parametrize(
    "kind", ["S_IFLNK", "S_IFIFO", "S_IFCHR", "S_IFBLK", "S_IFSOCK", "S_IFDIR"]
)
def test_links_and_devices_are_refused(kind):
    info = entry("a.py", mode=getattr(stat, kind) | 0o777)
    told = refused(packed((info, b"/etc/passwd")))
    assert told.startswith("work.zip holds 'a.py', which is a link or a device")


@pytest.mark.parametrize("name", ["a.zip", "x/b.7Z", "c.rar", "d.tar", "e.tgz"])
def test_archives_in_archives_are_refused(name):
    told = refused(packed(("a.py", F), (name, b"PK")))
    assert "an archive in an archive" in told


@pytest.mark.parametrize("name", ["fast.so", "a/fast.pyd", "x.dll", "x.dylib", "Setup.EXE"])
def test_compiled_code_is_refused(name):
    told = refused(packed(("a.py", F), (name, b"\x7fELF")))
    assert "compiled code" in told


@pytest.mark.parametrize("bit", [0, 6, 13])
def test_encrypted_files_are_refused(bit):
    data = bytearray(packed(("a.py", F)))
    flags = data.index(b"PK\x01\x02") + 8
    data[flags + bit // 8] |= 1 << bit % 8
    assert "is encrypted; pack it without a password" in refused(bytes(data))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_rare_methods_are_refused(method):
    told = refused(packed(("a.py", F), method=method))
    assert f"packed by method {method}; expected deflate" in told


def test_a_zip_without_code_is_refused():
    for data in (packed(), packed(("a.txt", b"x")), packed((".git/a.py", F), ("a.PYW", F))):
        assert refused(data).startswith("there is no .py")


def test_data_may_come_in_a_zip_of_its_own():
    sent = {"a.py": F, "data.zip": packed(("table.txt", b"1"))}
    assert list(read_files(CODE, sent).files) == ["a.py", "table.txt"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("a.py", "a.py"), ("Model.py", "model.py"), ("é.py", "e\u0301.py"), ("ß.py", "SS.py"),
     ("pkg/A.txt", "PKG/a.txt"), ("ﬁ.py", "fi.py")],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_that_some_system_takes_for_one_are_refused(one, other):
    told = refused(packed((one, F), (other, F), ("x.py", F)))
    assert told.startswith("two files have one name, ")
    assert told.count(" in work.zip") == 2
    assert "nobody can know which is meant" in told


def test_a_name_may_not_come_twice_over_several_uploads_either():
    sent = {"a.zip": packed(("hw/Work.py", F)), "b.zip": packed(("work.py", F)), "c.py": F}
    with pytest.raises(UnreadableSubmission, match=r"'Work.py' in a.zip and 'work.py' in b.zip"):
        read_files(CODE, sent)
    with pytest.raises(UnreadableSubmission, match=r"'c.py' and 'c.py' in a.zip"):
        read_files(CODE, {"c.py": F, "a.zip": packed(("c.py", F))})


def test_a_file_cannot_be_a_folder_too():
    told = refused(packed(("a", b"x"), ("a/b.py", F), ("c.py", F)))
    assert told == "'a' in work.zip is a file and a folder"


# What is broken, lies or wants to burst


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK",
        b"not a zip" * 100,
        packed(("a.py", F))[:-1],
        packed(("a.py", F))[:-40],
        packed(("a.py", F))[10:],
        packed(("a.py", F * 100)).replace(b"PK\x03\x04", b"PK\x03\x05"),
    ],
    ids=["empty", "two bytes", "text", "cut", "cut more", "no beginning", "no local header"],
)
def test_a_broken_zip_is_told_to_be_packed_again(data):
    assert refused(data) == "work.zip is broken, or no zip archive: pack the files once more"


def changed(data, signature, at, form, value):
    """The bytes with one field of the first record changed."""
    found = bytearray(data)
    struct.pack_into(form, found, found.index(signature) + at, value)
    return bytes(found)


@pytest.mark.parametrize(
    ("at", "form", "value"),
    [
        (16, "<I", 1),  # sum
        (20, "<I", 3),  # packed size, too small
        (24, "<I", 5),  # size, too small: the rest would be lost
        (24, "<I", 100),  # size, too large
        (42, "<I", 1),  # where it begins
        (42, "<I", 0xFFFFFFF0),
    ],
)
def test_an_archive_that_lies_about_a_file_is_broken(at, form, value):
    data = changed(packed(("a.py", F * 3)), b"PK\x01\x02", at, form, value)
    assert refused(data).startswith("work.zip is broken")


def test_a_name_in_the_directory_must_be_that_at_the_file():
    data = packed(("a.py", F))
    assert refused(data.replace(b"a.py", b"b.py", 1)).startswith("work.zip is broken")


def overlapping(count):
    """Many entries of the directory for one and the same file."""
    data = packed(("a.py", F))
    start, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    size = count * (end - start)
    tail = struct.pack(
        "<4s4H2IH", b"PK\x05\x06", 0, 0, count % 65536, count % 65536, size, start, 0
    )
    return data[:start] + data[start:end] * count + tail


def test_entries_that_share_their_bytes_are_broken():
    assert refused(overlapping(2)).startswith("work.zip is broken")
    assert list(read_files(CODE, {"a.zip": overlapping(1)}).files) == ["a.py"]


def test_a_file_that_is_packed_too_well_is_refused_before_it_is_unpacked():
    told = refused(packed(("a.npy", bytes(2_000_000)), ("a.py", F)))
    assert told.startswith("work.zip holds 'a.npy', whose 2000000 bytes are packed into ")


def test_more_than_the_limit_is_refused_by_what_the_archive_says():
    told = refused(packed(("a.py", b"#" * 600), ("b.py", b"#" * 600)), limit=1000)
    assert told == "work.zip unpacks to 1200 bytes; at most 1000 are taken"


def test_the_limit_holds_for_all_archives_and_files_together():
    one = packed(("a.py", b"#" * 600))
    sent = {"a.zip": one, "b.zip": packed(("b.py", b"#" * 600))}
    with pytest.raises(SubmissionTooLarge, match="has 1200 bytes; at most 1000 are taken"):
        read_files(CODE, sent, limit=1000)
    with pytest.raises(SubmissionTooLarge, match="51 files were sent; at most 50"):
        read_files(CODE, {"a.zip": packed(*((f"f{n}.py", b"") for n in range(51)))})


def test_a_lie_about_the_size_unpacks_no_more_than_was_said():
    data = packed(("a.py", bytes(900_000)))
    for at, signature in ((24, b"PK\x01\x02"), (22, b"PK\x03\x04")):
        data = changed(data, signature, at, "<I", 500)
    assert refused(data, limit=1000).startswith("work.zip is broken")


BOMBS = {
    "one file": lambda: packed(("a.py", bytes(200_000_000))),
    "many files": lambda: packed(*((f"{n}.py", bytes(4_000_000)) for n in range(50))),
    "one file shared by 100000 entries": lambda: overlapping(100_000),
    "100000 files": lambda: packed(*((f"{n}", b"") for n in range(100_000))),
    "zips in zips": lambda: packed(*((f"{n}.zip", packed(("a.py", F))) for n in range(16))),
    "a signature that announces nothing": lambda: b"PK\x01\x02" * 1_000_000,
}


@pytest.mark.parametrize("make", BOMBS.values(), ids=BOMBS)
def test_a_bomb_is_refused_in_bounded_memory(make, tmp_path):
    (tmp_path / "work.zip").write_bytes(make())
    script = (
        "import resource, sys\n"
        "from tests.uploads.test_archive import CODE, REFUSALS, read_files\n"
        "data = open(sys.argv[1], 'rb').read()\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    read_files(CODE, {'work.zip': data}, limit=max(len(data), 5 << 20))\n"
        "except REFUSALS as refusal:\n    print(refusal)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "work.zip"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (20, 20)),
    )
    told, kilobytes = done.stdout.splitlines()
    assert told.startswith("work.zip ")
    assert int(kilobytes) < 20_000


def test_an_archive_that_holds_itself_is_refused():
    # As a quine does: the file inside is called as the one outside, and is never opened.
    assert "an archive in an archive" in refused(packed(("r/r.zip", packed(("r.zip", b"")))))


# Whatever comes, it is a submission or a refusal


def judge(data):
    try:
        found = read_files(CODE, {"work.zip": data}, limit=100_000)
    except REFUSALS:
        assert refused(data, limit=100_000)
        return
    assert isinstance(CODE, CodeProblem)
    assert any(name.endswith(".py") for name in found.files)
    assert sum(map(len, found.files.values())) <= 100_000
    for name in found.files:
        assert not name.startswith("/")
        assert not {"", ".", ".."} & set(name.split("/"))


@settings(deadline=None)
@given(st.binary(max_size=400))
@example(b"PK\x05\x06" + bytes(18))
@example(b"PK\x05\x06" + b"\xff" * 18)
@example(b"PK\x06\x06" + bytes(52) + b"PK\x06\x07" + bytes(16) + b"PK\x05\x06" + b"\xff" * 18)
def test_any_bytes_are_a_refusal(data):
    judge(data)


VALID = packed(("hw/a.py", F * 9), ("hw/作业.txt", b"1 2 3" * 20), ("hw/pkg/__init__.py", b""))
MUTATION = st.tuples(st.integers(0, len(VALID) - 1), st.binary(min_size=1, max_size=8))


@settings(deadline=None)
@given(st.lists(MUTATION, min_size=1, max_size=4), st.integers(0, 40), st.booleans())
def test_a_mutated_zip_is_a_submission_or_a_refusal(mutations, cut, plain):
    data = bytearray(without_flag(VALID) if plain else VALID)
    for at, put in mutations:
        data[at : at + len(put)] = put
    judge(bytes(data[: len(data) - cut] if cut < 20 else data))


FIELDS = [
    (b"PK\x03\x04", (4, 6, 8, 14, 18, 22, 26, 28)),
    (b"PK\x01\x02", (6, 8, 10, 16, 20, 24, 28, 30, 32, 36, 38, 42)),
    (b"PK\x05\x06", (4, 6, 8, 10, 12, 16, 20)),
]
FIELD = st.one_of(*(st.tuples(st.just(name), st.sampled_from(at)) for name, at in FIELDS))
VALUE = st.sampled_from([0, 1, 2, 7, 8, 0x7FFF, 0x8000, 0xFFFF]) | st.integers(0, 0xFFFF)


@settings(deadline=None)
@given(st.lists(st.tuples(FIELD, VALUE, st.booleans()), min_size=1, max_size=3))
def test_a_zip_with_any_field_changed_is_a_submission_or_a_refusal(changes):
    data = VALID
    for (signature, at), value, long in changes:
        if signature in data:
            number = value | value << 16 if long else value
            with_room = min(data.index(signature) + at, len(data) - 4) - data.index(signature)
            data = changed(data, signature, with_room, "<I" if long else "<H", number)
    judge(data)


NAMES = st.text(st.sampled_from("ab./\\: é作\0\n\u202e"), max_size=8).map(lambda s: s + ".py")


@settings(deadline=None)
@given(st.lists(st.tuples(NAMES | st.just("a.py"), st.binary(max_size=20)), max_size=4))
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_any_names_are_a_submission_or_a_refusal(files):
    judge(packed(*files))
