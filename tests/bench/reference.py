"""The reference's attention against torch's math path, both in float64 on one thread."""

import os
import subprocess
import sys
from statistics import median

import numpy as np

from reference.ops.attention import attention
from tests.bench.row import Row, seconds

SHAPE = (8, 8, 256, 64)  # B, H, T, d
ROUNDS = 15
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def rows() -> list[Row]:
    """Measured in a process of its own: numpy's threads are counted when it is first imported."""
    command = [sys.executable, "-m", "tests.bench.reference"]
    run = subprocess.run(
        command, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True, check=True
    )
    ours, theirs = map(float, run.stdout.split())
    shape = "B={} H={} T={} d={}".format(*SHAPE)
    detail = f"{ours:.0f} ms against {theirs:.0f} ms, medians of {ROUNDS}, one thread"
    return [Row(f"ops.attention / torch SDPA math, {shape}", 3, ours / theirs, detail=detail)]


def measure() -> tuple[float, float]:
    """Milliseconds of both, taken in turns so that a busy moment meets both."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal(SHAPE) for _ in range(3))
    tensors = [torch.tensor(array) for array in (q, k, v)]
    ours, theirs = [], []
    with sdpa_kernel(SDPBackend.MATH), torch.no_grad():
        for _ in range(ROUNDS):
            ours.append(seconds(lambda: attention(q, k, v)))
            theirs.append(seconds(lambda: scaled_dot_product_attention(*tensors)))
    return median(ours) * 1000, median(theirs) * 1000


if __name__ == "__main__":
    print(*measure())
