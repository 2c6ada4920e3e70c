"""Makes forks of the zygote cheap by huge pages: a fork copies page tables, so fewer, larger
pages halve its cost. Runs inside the jail, needs /proc.
"""

import ctypes
from collections.abc import Iterator

_HUGE = 2 << 20
_MADV_HUGEPAGE = 14
_MADV_COLLAPSE = 25

_libc = ctypes.CDLL(None, use_errno=True)
_libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def collapse() -> int:
    """Gather this process's private anonymous memory into huge pages; returns the bytes done.

    Best effort: kernels before 6.1 refuse (EINVAL), and so does a host short of free huge pages
    (EAGAIN, ENOMEM). Forks are then merely slower.
    """
    return sum(_collapse(start, end) for start, end in _private_anonymous_ranges())


def _private_anonymous_ranges() -> Iterator[tuple[int, int]]:
    with open("/proc/self/maps") as maps:
        regions = maps.read().splitlines()
    for region in regions:
        addresses, access, _, _, _, *name = region.split()
        if not access.startswith("rw") or not access.endswith("p") or name not in ([], ["[heap]"]):
            continue
        start, end = (int(address, 16) for address in addresses.split("-"))
        start, end = -(-start // _HUGE) * _HUGE, end // _HUGE * _HUGE
        if start < end:
            yield start, end


def _collapse(start: int, end: int) -> int:
    _libc.madvise(start, end - start, _MADV_HUGEPAGE)
    if _libc.madvise(start, end - start, _MADV_COLLAPSE) == 0:
        return end - start
    # One page that cannot move fails the whole range: try them one by one.
    pages = range(start, end, _HUGE)
    return sum(_HUGE for page in pages if _libc.madvise(page, _HUGE, _MADV_COLLAPSE) == 0)
