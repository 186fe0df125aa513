"""Matrix products as other matrix products, as convolutions, in integers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.model.constants import constant_of
from profiling.kernels.reformulations.quantization import packed_4_bit, quantized_rows
from profiling.kernels.reformulations.site import (
    MICROSOFT,
    Floats,
    NotHere,
    Site,
    attributes_of,
    dims_of,
    floats_of,
    only_one_free,
)

_BITS = 4
_BLOCK = 32
_AS_INT8 = 4


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


def product_as_gemm(site: Site) -> None:
    """MatMul and its bias in one kernel, on rows laid out as one matrix."""
    if site.node("MatMul") is None:
        raise NotHere("it is a Gemm already")
    _gemm(site, _product(site), transposed=False)


def product_as_transposed_gemm(site: Site) -> None:
    """The same with weights stored row by row of their transpose, or not any more."""
    node = site.node("Gemm")
    flipped = node is not None and bool(attributes_of(node).get("transB", 0))
    _gemm(site, _product(site), transposed=not flipped)


def gemm_as_product(site: Site) -> None:
    """Gemm as MatMul and Add."""
    if site.node("Gemm") is None:
        raise NotHere("it is a MatMul already")
    product = _product(site)
    result = site.new("MatMul", product.rows, site.weight(product.weight))
    if product.bias is not None:
        result = site.new("Add", result, site.weight(product.bias))
    site.put(product.nodes, product.result, result)


def product_as_convolution(site: Site) -> None:
    """Rows as pixels, columns as channels: a 1×1 convolution in one dimension."""
    product = _product(site)
    dims = dims_of(product.rows)
    if len(dims) not in (2, 3):
        raise NotHere(f"its rows have rank {len(dims)}; a convolution needs 2 or 3")
    rows = product.rows
    if len(dims) == 2:
        rows = site.new("Reshape", rows, site.integers(1, -1, product.weight.shape[0]))
    pixels = site.new("Transpose", rows, perm=[0, 2, 1])
    weight = site.weight(product.weight.T[:, :, None])
    bias = () if product.bias is None else (site.weight(product.bias),)
    result = site.new("Conv", pixels, weight, *bias, kernel_shape=[1])
    result = site.new("Transpose", result, perm=[0, 2, 1])
    if len(dims) == 2:
        result = site.new("Reshape", result, site.integers(-1, product.weight.shape[1]))
    site.put(product.nodes, product.result, result)


def product_in_integers(site: Site) -> None:
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
    site.put(product.nodes, product.result, result)


def product_in_4_bits(site: Site) -> None:
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
    site.put(product.nodes, product.result, result)


def _gemm(site: Site, product: _Product, *, transposed: bool) -> None:
    dims = dims_of(product.rows)
    inner, columns = product.weight.shape
    rows = product.rows
    target = only_one_free(*dims[:-1], columns)
    if len(dims) != 2:
        rows = site.new("Reshape", rows, site.integers(-1, inner))
    weight = product.weight.T if transposed else product.weight
    bias = () if product.bias is None else (site.weight(product.bias),)
    result = site.new("Gemm", rows, site.weight(weight), *bias, transB=int(transposed))
    if len(dims) != 2:
        result = site.new("Reshape", result, site.integers(*target))
    site.put(product.nodes, product.result, result)


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
