"""3.7 Generation: take the last position's logits, choose a token, append it, repeat.

Each new token is part of the input of the next, so decoding is a loop; only the prompt, known in
advance, passes in parallel.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from reference.errors import ShapeError
from reference.ops.arrays import Array, Tokens, real
from reference.ops.softmax import softmax

Forward = Callable[[Tokens], ArrayLike]  # (m,) int -> (m, V)
Choice = Callable[[Array], int]  # (V,) -> token


def generate(
    forward: Forward,
    prompt: ArrayLike,  # (m,) int, m ≥ 1
    n: int,
) -> list[int]:
    """Prompt and n greedy tokens: each the most likely one, ties to the smallest id.

    Raises ShapeError for an empty prompt.
    """
    return extend(forward, prompt, n, greedy)


def sample(
    forward: Forward,
    prompt: ArrayLike,  # (m,) int, m ≥ 1
    n: int,
    seed: int,
    temperature: float = 1.0,
) -> list[int]:
    """Prompt and n tokens drawn from softmax(logits / temperature); one seed, one result.

    ``temperature`` is positive; towards 0 it becomes greedy. Raises ShapeError for an empty prompt.
    """
    rng = np.random.default_rng(seed)

    def draw(logits: Array) -> int:
        return int(rng.choice(len(logits), p=softmax(logits / temperature)))

    return extend(forward, prompt, n, draw)


def extend(forward: Forward, prompt: ArrayLike, n: int, choose: Choice) -> list[int]:
    """Append n times the token that ``choose`` picks from the last position's logits."""
    tokens = prompt_tokens(prompt)
    for _ in range(n):
        logits = real(forward(np.array(tokens, dtype=np.int64)))
        tokens.append(choose(logits[-1]))
    return tokens


def greedy(logits: Array) -> int:
    """The most likely token; among equals the smallest id."""
    return int(logits.argmax())


def prompt_tokens(prompt: ArrayLike) -> list[int]:
    """The prompt as a list; ShapeError if it is empty or no sequence."""
    tokens = np.asarray(prompt)
    if tokens.ndim != 1 or not tokens.size:
        raise ShapeError(
            "a prompt is a sequence of at least one token", prompt=tokens.shape, least=(1,)
        )
    return [int(token) for token in tokens]
