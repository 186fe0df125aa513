"""Matrix products as 1×1 convolutions."""

from __future__ import annotations

from optimizer.passes.draft import NotHere, dims_of
from optimizer.passes.kernels.products import PRODUCTS, product_of
from optimizer.passes.kernels.site import Site, rewrites
from optimizer.registry import Pass, register
from optimizer.rules import Operand, Replacement


@register
class WriteMatmulAsConv(Pass):
    """Write a matrix product as 1×1 Conv.

    What it does:
        Rows become pixels and columns channels of a convolution in one dimension.
    Before:
        MatMul
    After:
        Transpose → Conv → Transpose
    When it is safe:
        The weights are a constant float32 matrix; a bias is constant, too; its rows have
        rank 2 or 3. Where their number is free in the file, it is not 0 when it runs: ONNX
        Runtime's Conv takes no image without pixels, where its MatMul takes a matrix without rows.
    Numerics:
        The same products, added in another order.
    Source:
        ONNX Runtime; whether it is faster, a race says.
    """

    id = "write-matmul-as-conv"
    exactness = "reassociates"
    global_analysis = True

    @rewrites(*PRODUCTS, name="ProductAsConv")
    def match(self, site: Site) -> Replacement:
        """The product, and the Add after it."""
        product = product_of(site)
        dims = dims_of(product.rows)
        if len(dims) not in (2, 3):
            raise NotHere(f"its rows have rank {len(dims)}; a convolution needs 2 or 3")
        rows: Operand = product.rows
        if len(dims) == 2:
            rows = site.new("Reshape", rows, site.integers(1, -1, product.weight.shape[0]))
        pixels = site.new("Transpose", rows, perm=[0, 2, 1])
        weight = site.weight(product.weight.T[:, :, None])
        result = site.new("Conv", pixels, weight, *site.optional(product.bias), kernel_shape=[1])
        result = site.new("Transpose", result, perm=[0, 2, 1])
        if len(dims) == 2:
            result = site.new("Reshape", result, site.integers(-1, product.weight.shape[1]))
        why = "Rows are pixels and columns are channels of a 1×1 convolution."
        return site.put(product.nodes, result, why)
