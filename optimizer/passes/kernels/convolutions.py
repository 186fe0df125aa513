"""1×1 convolutions and matrix products as each other."""

from __future__ import annotations

import numpy as np

from optimizer.passes.draft import NotHere, attributes_of, dims_of, floats_of, only_one_free
from optimizer.passes.kernels.products import PRODUCTS, product_of
from optimizer.passes.kernels.site import Site, rewrites
from optimizer.registry import Pass, register
from optimizer.rules import Operand, Replacement


@register
class WriteConvAsMatmul(Pass):
    """Write a 1×1 Conv as MatMul.

    What it does:
        A convolution of one pixel is a matrix product over channels, for which the runtime has
        other kernels. Strides become a Slice before it.
    Before:
        Conv 1×1
    After:
        Reshape → MatMul → Reshape
    When it is safe:
        The kernel has size 1, one group and no padding; its weights are constant float32; at most
        one size of the result is free.
    Numerics:
        The same products, added in another order.
    Source:
        ONNX Runtime; whether it is faster, a race says.
    """

    id = "write-conv-as-matmul"
    exactness = "reassociates"

    @rewrites("Conv", name="PointwiseConv")
    def match(self, site: Site) -> Replacement:
        """The convolution; what follows it stays."""
        node = site.block.nodes[0]
        image: Operand | None = node.inputs[0]
        weight = floats_of(node.inputs[1])
        about = attributes_of(node)
        if any(size != 1 for size in weight.shape[2:]):
            raise NotHere("only a 1×1 convolution is a plain matrix product")
        if about.get("group", 1) != 1 or any(about.get("pads", ())):
            raise NotHere("it has groups or padding")
        if about.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
            raise NotHere("its padding is not known")
        strides = about.get("strides", (1,) * (weight.ndim - 2))
        target = only_one_free(*dims_of(node.outputs[0])[2:])
        outputs, inputs = weight.shape[:2]
        if max(strides) > 1:
            image = _every(site, image, strides)
        rows = site.new("Reshape", image, site.integers(0, inputs, -1))
        result: Operand = site.new("MatMul", site.weight(weight.reshape(outputs, inputs)), rows)
        if len(node.inputs) > 2 and node.inputs[2] is not None:
            result = site.new("Add", result, site.weight(floats_of(node.inputs[2])[:, None]))
        result = site.new("Reshape", result, site.integers(0, outputs, *target))
        why = "A 1×1 convolution is a product of its weights with the pixels, channel by channel."
        return site.put([node], result, why)


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
        rank 2 or 3.
    Numerics:
        The same products, added in another order.
    Source:
        ONNX Runtime; whether it is faster, a race says.
    """

    id = "write-matmul-as-conv"
    exactness = "reassociates"

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


def _every(site: Site, image: Operand | None, strides: tuple[int, ...]) -> Operand:
    axes = range(2, 2 + len(strides))
    return site.new(
        "Slice",
        image,
        site.integers(*[0] * len(strides)),
        site.integers(*[int(np.iinfo(np.int64).max)] * len(strides)),
        site.integers(*axes),
        site.integers(*strides),
    )
