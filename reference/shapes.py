"""Closed book: the shape after every step of multi-head attention, in numbers or in letters.

    X:[B,T,D] → projection [B,T,H·d] → reshape [B,T,H,d] → transpose [B,H,T,d]
    → scores [B,H,T_q,T_k] → context [B,H,T_q,d_v] → merge [B,T_q,H·d_v] → output [B,T_q,D]

The batch never touches a weight, the head axis stands right after the batch, and only S and A
hold two position axes.
"""

from reference.errors import ShapeError

Size = int | str
Shape = tuple[int, ...] | tuple[str, ...]


def trace_shapes(
    B: Size = "B",
    T: Size | None = None,
    D: Size = "D",
    H: Size = "H",
    T_q: Size | None = None,
    T_k: Size | None = None,
    d_k: Size | None = None,
    d_v: Size | None = None,
) -> dict[str, Shape]:
    """Name of each array → its shape, in the order of the computation.

    Sizes are numbers or letters: all numbers give tuples of int, ``(2, 3, 5, 8)``; a letter
    anywhere gives tuples of str, ``("B", "H", "T_q", "D/H")``. ``T`` serves for both lengths in
    self-attention. Without ``d_k`` and ``d_v`` a head is D/H wide. ``WQ_per_head`` and its like
    are the same weights written with one block a head, (H, D, d).
    Raises ShapeError for sizes below 1 and for a D that H does not divide.
    """
    T_q, T_k = first_given(T_q, T, "T_q"), first_given(T_k, T, "T_k")
    check_positive(B=B, T_q=T_q, T_k=T_k, D=D, H=H, d_k=d_k, d_v=d_v)
    (d_k, all_k), (d_v, all_v) = head_width(D, H, d_k), head_width(D, H, d_v)
    shapes: dict[str, tuple[Size, ...]] = {
        "X": (B, T_q, D),
        "X_kv": (B, T_k, D),
        "WQ": (D, all_k),
        "WK": (D, all_k),
        "WV": (D, all_v),
        "WQ_per_head": (H, D, d_k),
        "WK_per_head": (H, D, d_k),
        "WV_per_head": (H, D, d_v),
        "Q_projected": (B, T_q, all_k),
        "K_projected": (B, T_k, all_k),
        "V_projected": (B, T_k, all_v),
        "Q_reshaped": (B, T_q, H, d_k),
        "K_reshaped": (B, T_k, H, d_k),
        "V_reshaped": (B, T_k, H, d_v),
        "Q": (B, H, T_q, d_k),
        "K": (B, H, T_k, d_k),
        "V": (B, H, T_k, d_v),
        "K_transposed": (B, H, d_k, T_k),
        "S": (B, H, T_q, T_k),
        "A": (B, H, T_q, T_k),
        "context": (B, H, T_q, d_v),
        "context_transposed": (B, T_q, H, d_v),
        "Z": (B, T_q, all_v),
        "WO": (all_v, D),
        "output": (B, T_q, D),
    }
    return one_kind(shapes)


def head_width(D: Size, H: Size, d: Size | None) -> tuple[Size, Size]:
    """Width of one head and of all heads: d and H·d, or D/H and D where d is not given."""
    if d is not None:
        return d, H * d if isinstance(H, int) and isinstance(d, int) else f"{H}*{d}"
    if not (isinstance(D, int) and isinstance(H, int)):
        return f"{D}/{H}", D
    if D % H:
        raise ShapeError(f"H={H} must divide D={D}", features=(D,), heads=(H,))
    return D // H, D


def first_given(*sizes: Size | None) -> Size:
    """The first size that is not None; the last one is a letter."""
    return next(size for size in sizes if size is not None)


def check_positive(**sizes: Size | None) -> None:
    """Raise ShapeError for a number below 1, naming it."""
    for name, size in sizes.items():
        if isinstance(size, int) and size < 1:
            numbers = {other: (value,) for other, value in sizes.items() if isinstance(value, int)}
            raise ShapeError(f"{name} must be at least 1", **numbers)


def one_kind(shapes: dict[str, tuple[Size, ...]]) -> dict[str, Shape]:
    """All int, or, as soon as one letter is among the sizes, all str."""
    if all(isinstance(size, int) for shape in shapes.values() for size in shape):
        return {name: tuple(map(int, shape)) for name, shape in shapes.items()}
    return {name: tuple(map(str, shape)) for name, shape in shapes.items()}
