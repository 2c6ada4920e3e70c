"""3.6 Residual connections and where the norm stands.

    y = x + F(x)        ∂y/∂x = I + ∂F/∂x

    post-norm (2017)  y = LN(x + F(x))        pre-norm  y = x + F(Norm(x))

The identity keeps a path for the gradient; it is no cure for all (F(x) = -x gives 0). Pre-norm
leaves the path from input to output free of norms, so such a model ends with one final norm.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from reference.errors import ShapeError
from reference.ops.arrays import Array, real
from reference.ops.projection import linear

Sublayer = Callable[[Array], ArrayLike]  # (…, T, D) -> (…, T, D)
NormOrder = Callable[[ArrayLike, Sublayer, Sublayer], Array]


def residual(
    x: ArrayLike,  # (…, T, D)
    branch: ArrayLike,  # (…, T, D_out), F(x)
    projection: ArrayLike | None = None,  # (D, D_out), where D_out differs from D
) -> Array:  # (…, T, D_out)
    """x + F(x), or x P + F(x). Raises ShapeError if the two shapes differ: nothing broadcasts."""
    path, branch = real(x) if projection is None else linear(x, projection), real(branch)
    if path.shape != branch.shape:
        rule = "a residual adds equal shapes; project x where they differ"
        raise ShapeError(rule, x=path.shape, branch=branch.shape)
    return path + branch


def post_norm(x: ArrayLike, F: Sublayer, norm: Sublayer) -> Array:  # (…, T, D)
    """norm(x + F(x)): the norm stands on the main path."""
    x = real(x)
    return real(norm(residual(x, F(x))))


def pre_norm(x: ArrayLike, F: Sublayer, norm: Sublayer) -> Array:  # (…, T, D)
    """x + F(norm(x)): the norm stands on the branch, the raw x is added."""
    x = real(x)
    return residual(x, F(real(norm(x))))


def residual_jacobian(
    x: ArrayLike,  # (D,), one token
    W1: ArrayLike,  # (D, F)
    b1: ArrayLike,  # (F,)
    W2: ArrayLike,  # (F, D)
) -> Array:  # (D, D), entry (o, i) is ∂y_o/∂x_i
    """I + ∂F/∂x for y = x + ReLU(x W1 + b1) W2 + b2: closed units pass no derivative.

    Not defined where a unit stands exactly at 0; there it counts as closed.
    """
    open_units = linear(x, W1, b1) > 0.0
    return np.eye(len(real(x))) + linear(real(W1) * open_units, W2).T
