"""What several commands read from their arguments."""

import os
from collections import Counter
from pathlib import Path

from app.errors import UnreadableSubmission
from app.uploads.read import check_total


def read_paths(paths: list[Path], limit: int) -> dict[str, bytes]:
    """The files' bytes by their paths below the folder that they all lie in.

    Raises UnreadableSubmission and SubmissionTooLarge.
    """
    names = _names(paths)
    repeated = Counter(names)
    for path, name in zip(paths, names, strict=True):
        if path.is_dir():
            raise UnreadableSubmission(
                f"{path} is a folder; expected files, or a .zip of it",
                f"{path} 是文件夹；应为文件，或它的 .zip",
            )
        if not path.exists():
            raise UnreadableSubmission(f"no such file: {path}", f"没有这个文件：{path}")
        if not path.is_file():
            raise UnreadableSubmission(
                f"{path} is a device or a pipe; expected files", f"{path} 是设备或管道；应为文件"
            )
        if repeated[name] > 1:
            raise UnreadableSubmission(f"two files are called {name!r}", f"有两个文件都叫 {name!r}")
    check_total(sum(path.stat().st_size for path in paths), limit)
    try:
        return {name: path.read_bytes() for path, name in zip(paths, names, strict=True)}
    except OSError as error:
        raise UnreadableSubmission(
            f"{error.filename} cannot be read: {error.strerror}", f"无法读取 {error.filename}"
        ) from error


def _names(paths: list[Path]) -> list[str]:
    whole = [Path(os.path.abspath(path)) for path in paths]
    folder = os.path.commonpath([path.parent for path in whole])
    return [path.relative_to(folder).as_posix() for path in whole]
