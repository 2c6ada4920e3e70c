"""3.7 Teacher forcing: the true history is the input, at all positions at once.

    sequence [A, B, C, D] → inputs [A, B, C], labels [B, C, D]

Position 1 sees A and B, predicts C and cannot see it: the mask allows training in parallel, and
nothing needs to be sampled first.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from reference.errors import ShapeError
from reference.ops.arrays import Tokens
from reference.ops.loss import token_nll


def shift(
    sequence: ArrayLike,  # (…, T)
) -> tuple[npt.NDArray[np.generic], npt.NDArray[np.generic]]:  # (…, T - 1) twice
    """All but the last, and all but the first: inputs and labels of a sequence of tokens.

    Of ``valid`` (True = real token) the first part is the padding mask and the second the loss
    mask. Raises ShapeError for fewer than two positions.
    """
    sequence = np.asarray(sequence)
    if sequence.ndim < 1 or sequence.shape[-1] < 2:
        raise ShapeError("a label needs a position before it", sequence=sequence.shape, least=(2,))
    return sequence[..., :-1], sequence[..., 1:]


def lm_loss(
    forward: Callable[[Tokens], ArrayLike],  # (n,) -> (n, V), causal
    seq: ArrayLike,  # (n + 1,) int
) -> float:
    """Mean over i of -log p(seq[i+1] | seq[0..i]) in nats, from one forward pass."""
    inputs, labels = shift(seq)
    return float(token_nll(forward(inputs.astype(np.int64)), labels).mean())
