from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.profiling.kernels.models import floats, parsed

CONVOLUTIONS = """
g (float[1,8,16,16] x) => (float[1,8,16,16] y) {
    a = Conv<pads=[1,1,1,1]>(x, w1)
    n = BatchNormalization(a, s, b, m, v)
    r = Relu(n)
    c = Conv<pads=[1,1,1,1]>(r, w2)
    d = Relu(c)
    e = Conv<pads=[1,1,1,1]>(d, w3)
    f = Relu(e)
    p = Conv(f, w4, b4)
    q = Add(p, x)
    y = Relu(q)
}
"""


@pytest.fixture(scope="session")
def convolutions() -> bytes:
    """One block with BatchNorm, two equal ones, a 1×1 convolution with bias and residual."""
    ones = np.ones(8, np.float32)
    return parsed(
        CONVOLUTIONS,
        {
            "w1": floats(8, 8, 3, 3),
            "w2": floats(8, 8, 3, 3, seed=1),
            "w3": floats(8, 8, 3, 3, seed=2),
            "w4": floats(8, 8, 1, 1, seed=3),
            "b4": floats(8, seed=4),
            "s": ones * 1.5,
            "b": floats(8, seed=5),
            "m": floats(8, seed=6),
            "v": ones * 2,
        },
    )


ATTENTION = """
g (float[2,12,32] x, float[2,1,1,12] mask) => (float[2,12,32] y) {
    q0 = MatMul(x, wq)
    q1 = Add(q0, bq)
    q2 = Reshape(q1, split)
    q = Transpose<perm=[0,2,1,3]>(q2)
    k0 = MatMul(x, wk)
    k2 = Reshape(k0, split)
    k = Transpose<perm=[0,2,3,1]>(k2)
    v0 = MatMul(x, wv)
    v2 = Reshape(v0, split)
    v = Transpose<perm=[0,2,1,3]>(v2)
    s0 = MatMul(q, k)
    s1 = Div(s0, root)
    s2 = Add(s1, mask)
    s3 = Softmax<axis=-1>(s2)
    o0 = MatMul(s3, v)
    o1 = Transpose<perm=[0,2,1,3]>(o0)
    y = Reshape(o1, join)
}
"""


@pytest.fixture(scope="session")
def attention() -> bytes:
    """Four heads with a scale and a mask."""
    return parsed(
        ATTENTION,
        {
            "wq": floats(32, 32),
            "wk": floats(32, 32, seed=1),
            "wv": floats(32, 32, seed=2),
            "bq": floats(32, seed=3),
            "root": np.array(2.5, np.float32),
            "split": np.array([0, 0, 4, 8], np.int64),
            "join": np.array([0, 0, 32], np.int64),
        },
    )


@pytest.fixture(scope="session")
def write_model() -> Callable[..., bytes]:
    """Makes a model of ONNX text and weights."""
    return parsed
