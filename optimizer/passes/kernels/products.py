"""Matrix products as other matrix products, as convolutions, in integers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.passes.kernels.quantization import packed_4_bit, quantized_rows
from optimizer.passes.kernels.site import (
    MICROSOFT,
    Floats,
    NotHere,
    Site,
    attributes_of,
    dims_of,
    floats_of,
    only_one_free,
    written,
)
from optimizer.registry import Pass, register, rule
from optimizer.rules.context import Context
from optimizer.rules.replacement import Operand, Outcome, Replacement

_BITS = 4
_BLOCK = 32
_AS_INT8 = 4
_GEMM_WITHOUT_BIAS = 11
_KINDS = ("Gemm", "MatMul")


@dataclass(frozen=True, slots=True)
class _Product:
    """`rows @ weight + bias`.

    Attributes:
        weight: float32[inner, columns].
        nodes: that it takes the place of.
    """

    rows: ir.Value
    weight: Floats
    bias: Floats | None
    nodes: tuple[ir.Node, ...]

    @property
    def result(self) -> ir.Value:
        return self.nodes[-1].outputs[0]


def product_as_gemm(site: Site) -> Replacement:
    """MatMul and its bias in one kernel, on rows laid out as one matrix."""
    if site.node("MatMul") is None:
        raise NotHere("it is a Gemm already")
    return _gemm(site, _product(site), transposed=False)


def product_as_transposed_gemm(site: Site) -> Replacement:
    """The same with weights stored row by row of their transpose."""
    return _gemm_stored(site, transposed=True)


def product_as_plain_gemm(site: Site) -> Replacement:
    """A Gemm of transposed weights with weights stored as they are multiplied."""
    return _gemm_stored(site, transposed=False)


def _gemm_stored(site: Site, *, transposed: bool) -> Replacement:
    product, node = _product(site), site.node("Gemm")
    if transposed == (node is not None and bool(attributes_of(node).get("transB", 0))):
        raise NotHere("its weights are stored so already")
    return _gemm(site, product, transposed=transposed)


def gemm_as_product(site: Site) -> Replacement:
    """Gemm as MatMul and Add."""
    if site.node("Gemm") is None:
        raise NotHere("it is a MatMul already")
    product = _product(site)
    result = site.new("MatMul", product.rows, site.weight(product.weight))
    if product.bias is not None:
        result = site.new("Add", result, site.weight(product.bias))
    why = "Gemm is a product and a sum; the bias is constant."
    return site.put(product.nodes, product.result, result, why)


def product_as_convolution(site: Site) -> Replacement:
    """Rows as pixels, columns as channels: a 1×1 convolution in one dimension."""
    product = _product(site)
    dims = dims_of(product.rows)
    if len(dims) not in (2, 3):
        raise NotHere(f"its rows have rank {len(dims)}; a convolution needs 2 or 3")
    rows: Operand = product.rows
    if len(dims) == 2:
        rows = site.new("Reshape", rows, site.integers(1, -1, product.weight.shape[0]))
    pixels = site.new("Transpose", rows, perm=[0, 2, 1])
    weight = site.weight(product.weight.T[:, :, None])
    bias = () if product.bias is None else (site.weight(product.bias),)
    result = site.new("Conv", pixels, weight, *bias, kernel_shape=[1])
    result = site.new("Transpose", result, perm=[0, 2, 1])
    if len(dims) == 2:
        result = site.new("Reshape", result, site.integers(-1, product.weight.shape[1]))
    why = "Rows are pixels and columns are channels of a 1×1 convolution."
    return site.put(product.nodes, product.result, result, why)


def product_in_integers(site: Site) -> Replacement:
    """Weights as int8 by column, activations as uint8 anew in every run."""
    product = _product(site)
    columns, scales = quantized_rows(product.weight.T)
    zeros = site.weight(np.zeros(len(scales), np.int8))
    bias = () if product.bias is None else (site.weight(product.bias),)
    result = site.new(
        "DynamicQuantizeMatMul",
        product.rows,
        site.weight(columns.T),
        site.weight(scales),
        zeros,
        *bias,
        domain=MICROSOFT,
    )
    why = "Its weights are constant: int8 with a scale a column; its rows are quantized anew."
    return site.put(product.nodes, product.result, result, why)


def product_in_4_bits(site: Site) -> Replacement:
    """Weights in 4 bits with a scale every 32; products in int8."""
    product = _product(site)
    inner, columns = product.weight.shape
    packed, scales = packed_4_bit(product.weight.T, block=_BLOCK)
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
    if product.bias is not None:
        result = site.new("Add", result, site.weight(product.bias))
    why = "Its weights are constant: 4 bits each, with a scale every 32."
    return site.put(product.nodes, product.result, result, why)


def _gemm(site: Site, product: _Product, *, transposed: bool) -> Replacement:
    dims = dims_of(product.rows)
    inner, columns = product.weight.shape
    rows: Operand = product.rows
    target = only_one_free(*dims[:-1], columns)
    if len(dims) != 2:
        rows = site.new("Reshape", rows, site.integers(-1, inner))
    weight = product.weight.T if transposed else product.weight
    bias = () if product.bias is None else (site.weight(product.bias),)
    if not bias:
        site.needs(_GEMM_WITHOUT_BIAS, "Gemm without a bias")
    result = site.new("Gemm", rows, site.weight(weight), *bias, transB=int(transposed))
    if len(dims) != 2:
        result = site.new("Reshape", result, site.integers(*target))
    why = "Its weights are constant; its rows are laid out as one matrix."
    return site.put(product.nodes, product.result, result, why)


def _product(site: Site) -> _Product:
    """The block's matrix product, with the bias that is added to it."""
    first = site.block.nodes[0]
    if first.domain or first.op_type not in ("Gemm", "MatMul"):
        raise NotHere("it is no matrix product")
    rows = first.inputs[0]
    weight = floats_of(first.inputs[1])
    if rows is None or weight.ndim != 2:
        raise NotHere("its weights are no matrix")
    if first.op_type == "Gemm":
        return _of_gemm(first, rows, weight)
    bias, adding = _added(site, weight.shape[1])
    return _Product(rows, weight, bias, (first,) if adding is None else (first, adding))


def _of_gemm(node: ir.Node, rows: ir.Value, weight: Floats) -> _Product:
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
    return _Product(rows, weight, bias, (node,))


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


@register
@dataclass(frozen=True)
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
    family = "kernels"
    exactness = "reassociates"
    presets = ()

    @rule("Gemm", "MatMul", name="ProductAsGemm")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The product, and the Add after it."""
        return written(node, context, product_as_gemm, kinds=_KINDS, at=0)


@register
@dataclass(frozen=True)
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
    family = "kernels"
    exactness = "reassociates"
    presets = ()

    plain: bool = False

    @rule("Gemm", "MatMul", name="ProductAsStored")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The product, and the Add after it."""
        write = product_as_plain_gemm if self.plain else product_as_transposed_gemm
        return written(node, context, write, kinds=_KINDS, at=0)


@register
@dataclass(frozen=True)
class WriteGemmAsMatmul(Pass):
    """Write Gemm as MatMul and Add.

    What it does:
        A Gemm becomes a product and a sum.
    Before:
        Gemm
    After:
        MatMul → Add
    When it is safe:
        The weights are a constant float32 matrix; a bias is constant, too; nothing is
        scaled, and the rows are not transposed.
    Numerics:
        The same products, added in another order.
    Source:
        ONNX Runtime; whether it is faster, a race says.
    """

    id = "write-gemm-as-matmul"
    family = "kernels"
    exactness = "reassociates"
    presets = ()

    @rule("Gemm", "MatMul", name="GemmAsProduct")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The Gemm."""
        return written(node, context, gemm_as_product, kinds=_KINDS, at=0)


@register
@dataclass(frozen=True)
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
    family = "kernels"
    exactness = "reassociates"
    presets = ()

    @rule("Gemm", "MatMul", name="ProductAsConv")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The product, and the Add after it."""
        return written(node, context, product_as_convolution, kinds=_KINDS, at=0)


@register
@dataclass(frozen=True)
class QuantizeMatmulDynamically(Pass):
    """Compute MatMul in 8-bit integers.

    What it does:
        Weights are stored as int8 with a scale a column; rows are quantized anew in every run.
    Before:
        MatMul → Add
    After:
        com.microsoft.DynamicQuantizeMatMul
    When it is safe:
        The weights are a constant float32 matrix; a bias is constant, too. What is lost has to be
        worth it: no accuracy is promised.
    Numerics:
        8 bits: about 1 % of the largest result.
    Source:
        Jacob et al. 2018, eq. 1; ONNX Runtime contrib operators.
    """

    id = "quantize-matmul-dynamically"
    family = "kernels"
    exactness = "lossy"
    presets = ()

    @rule("Gemm", "MatMul", name="DynamicProduct")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The product, and the Add after it."""
        return written(node, context, product_in_integers, kinds=_KINDS, at=0)


@register
@dataclass(frozen=True)
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
    family = "kernels"
    exactness = "lossy"
    presets = ()

    @rule("Gemm", "MatMul", name="FourBitProduct")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The product, and the Add after it."""
        return written(node, context, product_in_4_bits, kinds=_KINDS, at=0)
