"""3.4 Assignment1, Question III, and the [10, 10, 10] experiment.

One head, two tokens, d_k = d_v = 2. Q, K and V are given:

    Q = [[2, 1], [1, 2]]    K = [[1, 2], [1, 1]]    V = [[2, -1], [1, 0]]

The X and the weights behind them are lost. Those below are a *reconstruction*: integers with the
smallest sum of absolute values that give exactly these Q, K and V.
"""

from collections.abc import Sequence

import numpy as np

from reference.ops.arrays import Array, real
from reference.ops.attention import attention
from reference.ops.projection import project
from reference.ops.visibility import causal_visible


def fixed(rows: Sequence[Sequence[int]]) -> Array:
    """A float64 array that nobody can change by accident."""
    array = np.array(rows, dtype=np.float64)
    array.flags.writeable = False
    return array


Q = fixed([[2, 1], [1, 2]])
K = fixed([[1, 2], [1, 1]])
V = fixed([[2, -1], [1, 0]])

X = fixed([[1, 0, 1], [0, 1, 1]])
WQ = fixed([[1, 0], [0, 1], [1, 1]])
WK = fixed([[0, 1], [0, 0], [1, 1]])
WV = fixed([[1, -1], [0, 0], [1, 0]])


def unmasked() -> tuple[Array, Array]:  # A (2, 2), Z (2, 2)
    """A ≈ [[.6698, .3302], [.8044, .1956]]; every row of Z is [1 + a, -a] with a = A[i, 0]."""
    return attention(Q, K, V)


def causal() -> tuple[Array, Array]:  # A (2, 2), Z (2, 2)
    """A = [[1, 0], [.8044, .1956]]: the first token can only read itself, Z[0] = V[0] = [2, -1]."""
    return attention(Q, K, V, causal_visible(2))


def with_second_token(
    token: Sequence[float],  # (3,)
    *,
    masked: bool,
) -> Array:  # Z (2, 2)
    """Output of the reconstruction when the second row of X is replaced.

    With the mask the first row stays [2, -1] whatever the token. Without it the row changes; to
    what depends on the reconstruction, so the experiment compares before with after. (For
    [-10, -10, -10] it lands within 7e-13 of [2, -1], though it was [1.6698, -.6698] before.)
    """
    Q, K, V = project(np.stack([X[0], real(token)]), WQ, WK, WV)
    return attention(Q, K, V, causal_visible(2) if masked else None)[1]
