"""3.3 An additive bias that is not only 0 or -∞, such as a distance penalty.

    A = softmax(Q Kᵀ / √d_k + M)

The bias is added after scaling. In (Q Kᵀ + M) / √d_k it would be shrunk by √d_k as well. The two
agree for a hard mask of 0 and -∞, and also (the chapter says "only" the former) for d_k = 1, for
M constant along each row, and for values so negative that exp underflows.
"""

import numpy as np
from numpy.typing import ArrayLike

from reference.errors import ShapeError
from reference.ops.arrays import Array, real
from reference.ops.attention import leading_axes, scaled_scores
from reference.ops.softmax import softmax


def biased_weights(
    Q: ArrayLike,  # (…, T_q, d_k)
    K: ArrayLike,  # (…, T_k, d_k)
    M: ArrayLike,  # broadcasts to (…, T_q, T_k), 0 = no change, -inf = hidden
) -> Array:  # (…, T_q, T_k)
    """softmax(Q Kᵀ / √d_k + M); a row of -inf alone gives weights 0.

    Raises ShapeError if d_k disagrees or M does not broadcast to the scores.
    """
    S, M = checked(Q, K, M)
    return softmax(S + M)


def weights_with_bias_before_scaling(
    Q: ArrayLike,  # (…, T_q, d_k)
    K: ArrayLike,  # (…, T_k, d_k)
    M: ArrayLike,  # broadcasts to (…, T_q, T_k)
) -> Array:  # (…, T_q, T_k)
    """softmax((Q Kᵀ + M) / √d_k), the other order, to compare with. Raises as above."""
    S, M = checked(Q, K, M)
    return softmax(S + M / np.sqrt(np.shape(Q)[-1]))


def checked(Q: ArrayLike, K: ArrayLike, M: ArrayLike) -> tuple[Array, Array]:
    """Scaled scores, and M broadcast to them."""
    q, k, bias = real(Q), real(K), real(M)
    leading_axes(q, k, k)
    scores = scaled_scores(q, k)
    try:
        return scores, np.broadcast_to(bias, scores.shape)
    except ValueError:
        rule = "M must broadcast to (…, T_q, T_k)"
        raise ShapeError(rule, M=bias.shape, scores=scores.shape) from None
