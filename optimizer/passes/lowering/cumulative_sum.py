"""CumSum as a product with a triangle."""

from __future__ import annotations

import numpy as np

from optimizer.passes.draft import NotHere, dims_of
from optimizer.passes.lowering.lowering import Lowering, along_axis, lowers
from optimizer.registry import Pass, register
from optimizer.rules import Replacement


@register
class WriteCumSumAsMatmul(Pass):
    """Write CumSum as MatMul.

    What it does:
        Running sums along an axis are its product with a triangular matrix of ones.
    Before:
        CumSum
    After:
        MatMul
    When it is safe:
        The axis and its size are known.
    Numerics:
        The same numbers, added in another order; infinities become NaN, since they meet zeros.
    Source:
        ONNX operator specification, CumSum.
    """

    id = "write-cumsum-as-matmul"
    exactness = "reassociates"

    profile: str = "matrix-engine"

    @lowers("CumSum", name="SumsAsProduct")
    def match(self, lowering: Lowering) -> Replacement:
        """One axis of known size."""
        x = lowering.input(0)
        dims = dims_of(x)
        chosen = lowering.context.scalar(lowering.input(1))
        if chosen is None:
            raise NotHere("its axis is computed")
        axis = int(chosen) % len(dims)
        size = dims[axis]
        if size is None:
            raise NotHere("the size it sums along is free in the file")
        triangle = np.tri(size, k=-1 if lowering.of("exclusive") else 0)
        matrix = triangle.T if lowering.of("reverse") else triangle
        if len(dims) == 1:
            product = lowering.new("MatMul", lowering.like(matrix, x), x)
        else:
            product = along_axis(lowering, x, matrix, axis=axis, rank=len(dims))
        return lowering.put(product, "Running sums are a product with a triangle of ones.")
