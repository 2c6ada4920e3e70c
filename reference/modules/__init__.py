"""The Transformer again, in torch: a second opinion that shares no line with ``reference.ops``.

Written from the chapter, with Linear, matmul, softmax and autograd, and without torch's own
attention, Transformer and LayerNorm: those are the third opinion, in the tests.

A function here stands in the file of the same name as in ``reference.ops``, takes the same
arguments in the same order (arrays or tensors) and returns tensors. The rules are the same:
float64, ``X @ W``, ``visible`` True = may attend, weights and output 0 for a query that sees
nothing, and ``ShapeError`` for whatever does not fit. Gradients stay finite in such a row too.
"""

import torch

# Matrices here are small: more threads would only wait for each other, milliseconds at each call.
torch.set_num_threads(1)
