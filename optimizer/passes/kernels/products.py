"""Matrix products with a constant and a bias, and MatMul as Gemm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.passes.draft import Floats, NotHere, attributes_of, dims_of, floats_of, only_one_free
from optimizer.passes.kernels.site import Site, rewrites
from optimizer.registry import Pass, register
from optimizer.rules import Operand, Replacement

PRODUCTS = ("Gemm", "MatMul")


@dataclass(frozen=True, slots=True)
class Product:
    """`rows @ weight + bias`.

    Attributes:
        weight: float32[inner, columns].
        nodes: that it takes the place of.
    """

    rows: ir.Value
    weight: Floats
    bias: Floats | None
    nodes: tuple[ir.Node, ...]


def product_of(site: Site) -> Product:
    """The block's matrix product, with the bias that is added to it."""
    first = site.block.nodes[0]
    rows, weight = first.inputs[0], floats_of(first.inputs[1])
    if rows is None or weight.ndim != 2:
        raise NotHere("its weights are no matrix")
    if first.op_type == "Gemm":
        return _of_gemm(first, rows, weight)
    bias, adding = _added(site, weight.shape[1])
    return Product(rows, weight, bias, (first,) if adding is None else (first, adding))


def _of_gemm(node: ir.Node, rows: ir.Value, weight: Floats) -> Product:
    about = attributes_of(node)
    if about.get("transA", 0) or about.get("alpha", 1.0) != 1.0 or about.get("beta", 1.0) != 1.0:
        raise NotHere("its Gemm transposes its rows, or scales")
    if about.get("transB", 0):
        weight = weight.T
    bias = None
    if len(node.inputs) > 2 and node.inputs[2] is not None:
        bias = floats_of(node.inputs[2])
        if bias.ndim > 1 or bias.size not in (1, weight.shape[1]):
            raise NotHere("its bias is no row")
        bias = np.broadcast_to(bias, (weight.shape[1],))
    return Product(rows, weight, bias, (node,))


def _added(site: Site, columns: int) -> tuple[Floats | None, ir.Node | None]:
    """The bias that an Add right after the product adds; None where it adds something else."""
    follower = site.block.nodes[1] if len(site.block.nodes) > 1 else None
    if follower is None or follower.op_type != "Add":
        return None, None
    operands = [value for value in follower.inputs if constant_of(value) is not None]
    if len(operands) != 1:
        return None, None
    bias = floats_of(operands[0])
    if bias.size == columns and (bias.ndim == 0 or bias.shape[-1] == columns):
        return bias.reshape(columns), follower
    return None, None


def with_bias(site: Site, result: Operand, bias: Floats | None) -> Operand:
    """The result with a constant bias added, if there is one."""
    return result if bias is None else site.new("Add", result, site.weight(bias))


_WITHOUT_BIAS = 11
"""The operator set since which Gemm needs none."""


@register
class WriteMatmulAsGemm(Pass):
    """Write MatMul and its bias as Gemm.

    What it does:
        MatMul and the bias added to it become one Gemm, on rows laid out as one matrix.
    Before:
        MatMul → Add
    After:
        Reshape → Gemm → Reshape
    When it is safe:
        The weights are a constant float32 matrix; a bias is constant, too; at most one size
        besides the last is free.
    Numerics:
        The same products, added in another order.
    Source:
        ONNX Runtime; whether it is faster, a race says.
    """

    id = "write-matmul-as-gemm"
    exactness = "reassociates"
    global_analysis = True

    @rewrites(*PRODUCTS, name="ProductAsGemm")
    def match(self, site: Site) -> Replacement:
        """The product, and the Add after it."""
        if site.node("MatMul") is None:
            raise NotHere("it is a Gemm already")
        return _gemm(site, product_of(site), transposed=False)


@register
class StoreGemmWeights(Pass):
    """Store the weights of Gemm transposed.

    What it does:
        A product becomes a Gemm whose weights are stored transposed; with `plain`, one of
        transposed weights a Gemm whose weights are stored as they are multiplied.
    Before:
        Gemm(x, w)
    After:
        Gemm<transB=1>(x, wᵀ)
    When it is safe:
        The weights are a constant float32 matrix; a bias is constant, too; at most one size
        besides the last is free.
    Numerics:
        The same products, added in another order.
    Source:
        ONNX Runtime; whether it is faster, a race says.
    """

    id = "store-gemm-weights"
    exactness = "reassociates"
    global_analysis = True

    plain: bool = False

    @rewrites(*PRODUCTS, name="ProductAsStored")
    def match(self, site: Site) -> Replacement:
        """The product, and the Add after it."""
        product, node, transposed = product_of(site), site.node("Gemm"), not self.plain
        if transposed == (node is not None and bool(attributes_of(node).get("transB", 0))):
            raise NotHere("its weights are stored so already")
        return _gemm(site, product, transposed=transposed)


def _gemm(site: Site, product: Product, *, transposed: bool) -> Replacement:
    dims = dims_of(product.rows)
    inner, columns = product.weight.shape
    rows: Operand = product.rows
    target = only_one_free(*dims[:-1], columns)
    if len(dims) != 2:
        rows = site.new("Reshape", rows, site.integers(-1, inner))
    weight = product.weight.T if transposed else product.weight
    bias = site.optional(product.bias)
    if not bias:
        site.needs(_WITHOUT_BIAS, "Gemm without a bias")
    result = site.new("Gemm", rows, site.weight(weight), *bias, transB=int(transposed))
    if len(dims) != 2:
        result = site.new("Reshape", result, site.integers(*target))
    why = "Its weights are constant; its rows are laid out as one matrix."
    return site.put(product.nodes, result, why)
