"""3.6 Where a token stands: the sinusoids of the 2017 model.

    P[p, 2i] = sin(p / 10000^(2i/D))        P[p, 2i+1] = cos(p / 10000^(2i/D))

Attention without a mask does not see order: permuting the tokens permutes the outputs. (Under a
causal mask each row still sees its past as a set, until a second layer reads the first.) The
chapter does not mention positions; a model cannot do without them.
"""

import numpy as np

from reference.ops.arrays import Array


def sinusoidal(T: int, D: int) -> Array:  # (T, D)
    """Positions 0 … T-1. A pair of columns shares its frequency; an odd D ends with a sine."""
    pair = np.arange(D) // 2
    angle = np.arange(T)[:, None] / 10000.0 ** (2 * pair / D)
    return np.where(np.arange(D) % 2 == 0, np.sin(angle), np.cos(angle))
