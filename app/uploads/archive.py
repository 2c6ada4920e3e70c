"""The files in a zip archive. They are read into memory only, and nothing that the archive says of
itself is believed: sizes are counted, sums are checked, names must lead downwards."""

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from app.domain.quotation import quoted
from app.errors import SubmissionTooLarge, UnreadableSubmission
from app.uploads.paths import depth, ending, is_plain

SUFFIX = ".zip"
ENTRY_LIMIT = 2000
"""Entries of one archive, with its folders and its clutter."""
RATIO_LIMIT = 100
"""How many times its packed size a file may have, if it has more than RATIO_FREE bytes."""
RATIO_FREE = 1024 * 1024

CLUTTER = frozenset({"__MACOSX", "__pycache__", "node_modules", "venv", "Thumbs.db", "desktop.ini"})
"""Files and folders that are left out, like all those whose names begin with a dot."""
CLUTTER_SUFFIXES = frozenset({".pyc", ".pyo"})
COMPILED = frozenset({".so", ".pyd", ".dll", ".dylib", ".exe"})
ARCHIVES = frozenset({".zip", ".7z", ".rar", ".tar", ".tgz"})

_RECORD = b"PK\x01\x02"  # begins each entry of an archive's directory
_LOCAL_HEADER = struct.Struct("<26xHH")  # ends with the lengths of the name and of what follows it
_UTF8, _ENCRYPTED = 0x800, 0x2041
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    LookupError,
    OverflowError,
    NotImplementedError,
)
"""What zipfile raises for bytes that are no archive, or one that contradicts itself."""

Member = tuple[str, zipfile.ZipInfo]


def is_archive(name: str) -> bool:
    """Whether a file of that name is to be unpacked."""
    return ending(name) == SUFFIX


def unpack(archive: str, data: bytes, limit: int) -> Iterator[tuple[str, bytes]]:
    """Path and bytes of each file of the zip called ``archive``, by depth and then by name.

    Clutter is left out, and a folder that holds all the rest is taken off the paths, unless it is a
    package. Files are unpacked one at a time, of ``limit`` bytes at most. Raises
    UnreadableSubmission and SubmissionTooLarge, naming the archive and the file.
    """
    # Counted before an object is made for each.
    if data.count(_RECORD) > ENTRY_LIMIT:
        raise SubmissionTooLarge(
            f"{archive} has more than {ENTRY_LIMIT} entries, which is the most that is taken",
            f"{archive} 中的条目超过 {ENTRY_LIMIT} 个，即最多接受的数目",
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as opened:
            _check_extents(opened, data)
            members = list(_members(archive, opened.infolist()))
            _check_sizes(archive, members, limit)
            top = _common_folder([path for path, _ in members])
            for path, info in sorted(members, key=lambda member: (depth(member[0]), member[0])):
                yield path.removeprefix(top), _content(opened, info)
    except _BROKEN:
        raise UnreadableSubmission(
            f"{archive} is broken, or no zip archive: pack the files once more",
            f"{archive} 已损坏，或不是 zip 压缩包：请重新打包",
        ) from None


def _check_extents(opened: zipfile.ZipFile, data: bytes) -> None:
    """Raises BadZipFile where two entries share bytes, as in bombs of small archives."""
    extents = sorted(_extent(info, data) for info in opened.infolist())
    extents.append((opened.start_dir, opened.start_dir))
    if any(end > begin for (_, end), (begin, _) in pairwise(extents)):
        raise zipfile.BadZipFile


def _extent(info: zipfile.ZipInfo, data: bytes) -> tuple[int, int]:
    lengths = _LOCAL_HEADER.unpack_from(data, info.header_offset)
    size = _LOCAL_HEADER.size + sum(lengths) + info.compress_size
    return info.header_offset, info.header_offset + size


def _members(archive: str, entries: Sequence[zipfile.ZipInfo]) -> Iterator[Member]:
    """The files that are kept, with their paths."""
    for info in entries:
        path = _path(info)
        if not is_plain(path.removesuffix("/")):
            raise UnreadableSubmission(
                f"{archive} holds {quoted(path)}; expected short relative paths with / between "
                "folders, such as model/layers.py",
                f"{archive} 中有 {quoted(path)}；应为较短的相对路径，文件夹之间用 /，"
                "例如 model/layers.py",
            )
        if path.endswith("/") or _is_clutter(path):
            continue
        _check_kind(archive, path, info)
        yield path, info


def _path(info: zipfile.ZipInfo) -> str:
    """The name as it was meant: without the flag for UTF-8, zipfile has read it as cp437, but it
    is rather UTF-8 without the flag, or GBK of a Chinese Windows."""
    if info.flag_bits & _UTF8:
        return info.orig_filename
    raw = info.orig_filename.encode("cp437")
    for encoding in ("utf-8", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return info.orig_filename


def _is_clutter(path: str) -> bool:
    parts = path.split("/")
    return (
        any(part.startswith(".") or part in CLUTTER for part in parts)
        or ending(path) in CLUTTER_SUFFIXES
    )


def _check_kind(archive: str, path: str, info: zipfile.ZipInfo) -> None:
    """Raises UnreadableSubmission for what is no plain file that can be unpacked here."""
    suffix = ending(path)
    kind = stat.S_IFMT(info.external_attr >> 16)
    method = info.compress_type
    if kind not in (0, stat.S_IFREG):
        english = "which is a link or a device; pack plain files and folders"
        chinese = "它是链接或设备；请打包普通文件与文件夹"
    elif suffix in ARCHIVES:
        english = "an archive in an archive; pack the files themselves"
        chinese = "它是压缩包中的压缩包；请直接打包其中的文件"
    elif suffix in COMPILED:
        english = "compiled code, which is not run here; send Python files"
        chinese = "它是编译后的代码，这里不会运行；请提交 Python 文件"
    elif info.flag_bits & _ENCRYPTED:
        english = "which is encrypted; pack it without a password"
        chinese = "它被加密；请不带密码打包"
    elif method not in _METHODS:
        english = f"packed by method {method}; expected deflate, as in any common zip"
        chinese = f"其压缩方法为 {method}；应为普通 zip 的 deflate"
    else:
        return
    shown = quoted(path)
    raise UnreadableSubmission(
        f"{archive} holds {shown}, {english}", f"{archive} 中有 {shown}，{chinese}"
    )


def _check_sizes(archive: str, members: Sequence[Member], limit: int) -> None:
    """Refuses by what the archive says, before anything is unpacked."""
    total = sum(info.file_size for _, info in members)
    if total > limit:
        raise SubmissionTooLarge(
            f"{archive} unpacks to {total} bytes; at most {limit} are taken",
            f"{archive} 解压后有 {total} 字节；最多接受 {limit} 字节",
        )
    for path, info in members:
        if info.file_size > max(RATIO_FREE, RATIO_LIMIT * info.compress_size):
            raise UnreadableSubmission(
                f"{archive} holds {quoted(path)}, whose {info.file_size} bytes are packed into "
                f"{info.compress_size}; leave out what holds so little",
                f"{archive} 中有 {quoted(path)}，其 {info.file_size} 字节被压缩成 "
                f"{info.compress_size} 字节；请去掉内容这么少的文件",
            )


def _common_folder(paths: Collection[str]) -> str:
    """The folder, with its slash, that all files lie in and that is no package; or ""."""
    tops = {path.partition("/")[0] + "/" for path in paths if "/" in path}
    if len(tops) != 1 or not all("/" in path for path in paths):
        return ""
    (top,) = tops
    return "" if f"{top}__init__.py" in paths else top


def _content(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """The unpacked bytes. Raises BadZipFile if they are not as many as the archive says."""
    with opened.open(info) as member:
        content = member.read(info.file_size + 1)
    if len(content) != info.file_size:
        raise zipfile.BadZipFile
    return content
