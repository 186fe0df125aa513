"""Weights in few bits, products in float."""

from __future__ import annotations

from optimizer.passes.draft import MICROSOFT
from optimizer.passes.kernels.products import PRODUCTS, product_of, with_bias
from optimizer.passes.kernels.site import Site, rewrites
from optimizer.precision.quantization import packed_blocks
from optimizer.registry import Pass, register
from optimizer.rules import Replacement

_BITS = 4
_BLOCK = 32
_AS_INT8 = 4


@register
class StoreWeightsIn4Bits(Pass):
    """Store the weights of MatMul in 4 bits.

    What it does:
        Weights are stored in 4 bits with a scale every 32; products are in int8.
    Before:
        MatMul → Add
    After:
        com.microsoft.MatMulNBits → Add
    When it is safe:
        The weights are a constant float32 matrix; a bias is constant, too. What is lost has to be
        worth it: no accuracy is promised.
    Numerics:
        4 bits: about 10 % of the largest result.
    Source:
        ONNX Runtime contrib operators, MatMulNBits.
    """

    id = "store-weights-in-4-bits"
    exactness = "lossy"

    @rewrites(*PRODUCTS, name="FourBitProduct")
    def match(self, site: Site) -> Replacement:
        """The product, and the Add after it."""
        product = product_of(site)
        inner, columns = product.weight.shape
        packed, scales = packed_blocks(product.weight.T, block=_BLOCK)
        result = site.new(
            "MatMulNBits",
            product.rows,
            site.weight(packed),
            site.weight(scales),
            domain=MICROSOFT,
            K=inner,
            N=columns,
            bits=_BITS,
            block_size=_BLOCK,
            accuracy_level=_AS_INT8,
        )
        why = "Its weights are constant: 4 bits each, with a scale every 32."
        return site.put(product.nodes, with_bias(site, result, product.bias), why)
