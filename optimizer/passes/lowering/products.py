"""Matrix products that are scaled, transposed or added to, as MatMul."""

from __future__ import annotations

import numpy as np

from optimizer.passes.draft import NotHere
from optimizer.passes.lowering.lowering import Lowering, lowers
from optimizer.registry import Pass, register
from optimizer.rules import Operand, Replacement


@register
class WriteGemmAsMatmul(Pass):
    """Write Gemm as MatMul and Add.

    What it does:
        A Gemm becomes a product and a sum; transposed or scaled operands are made so before it,
        constant ones in the file. ONNX Runtime's FusedMatMul likewise.
    Before:
        Gemm
    After:
        MatMul → Add
    When it is safe:
        Always; the rank of what FusedMatMul transposes is known.
    Numerics:
        The same products, added in another order.
    Source:
        ONNX operator specification, Gemm; ONNX Runtime contrib operators, FusedMatMul.
    """

    id = "write-gemm-as-matmul"
    exactness = "reassociates"

    profile: str = "matrix-engine"

    @lowers("Gemm", name="GemmAsProduct")
    def gemm(self, lowering: Lowering) -> Replacement:
        """Alpha · A' · B' + beta · C."""
        alpha, beta = float(lowering.of("alpha")), float(lowering.of("beta"))
        rows = _operand(lowering, 0, transposed=bool(lowering.of("transA")))
        columns = _operand(lowering, 1, transposed=bool(lowering.of("transB")), scale=alpha)
        result: Operand = lowering.new("MatMul", rows, columns)
        if lowering.optional_input(2) is not None:
            result = lowering.new("Add", result, _operand(lowering, 2, scale=beta))
        return lowering.put(result, "Gemm is a product and a sum.")

    @lowers("com.microsoft::FusedMatMul", name="FusedProduct")
    def fused(self, lowering: Lowering) -> Replacement:
        """Alpha · A' · B', the last two axes of A and B transposed."""
        rows = _operand(lowering, 0, transposed=bool(lowering.of("transA")))
        scale = float(lowering.of("alpha") or 1.0)
        columns = _operand(lowering, 1, transposed=bool(lowering.of("transB")), scale=scale)
        if lowering.of("transBatchA") or lowering.of("transBatchB"):
            raise NotHere("it transposes batches")
        result = lowering.new("MatMul", rows, columns)
        return lowering.put(result, "It is a product of transposed or scaled operands.")


def _operand(
    lowering: Lowering, index: int, *, transposed: bool = False, scale: float = 1.0
) -> Operand:
    """An operand with its last axes exchanged and scaled; a constant is written so."""
    value = lowering.input(index)
    known = lowering.constant(value)
    if known is not None and (transposed or scale != 1.0):
        data = np.swapaxes(known, -1, -2) if transposed else known
        scaled = data if scale == 1.0 else (data * np.asarray(scale, data.dtype))
        return lowering.weight(scaled.astype(known.dtype))
    result: Operand = value
    if transposed:
        *rest, row, column = range(lowering.rank(value))
        result = lowering.new("Transpose", result, perm=[*rest, column, row])
    return result if scale == 1.0 else lowering.new("Mul", result, lowering.number(value, scale))
