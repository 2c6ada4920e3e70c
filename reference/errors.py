"""The one failure of the reference: arrays that do not fit each other."""

from collections.abc import Sequence


class ShapeError(ValueError):
    """Sizes that do not fit.

    The message states the rule and then every array it concerns with its shape, for example
    ``q and k need the same last axis d_k: q has shape (2, 3), k has shape (5, 4)``.
    """

    def __init__(self, rule: str, **shapes: Sequence[int]) -> None:
        given = ", ".join(f"{name} has shape {tuple(shape)}" for name, shape in shapes.items())
        super().__init__(f"{rule}: {given}")
