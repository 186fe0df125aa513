"""Products of a matrix that is computed with one that is constant, and with a bias."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.passes.kernels.site import Floats, NotHere, Site, attributes_of, floats_of
from optimizer.rules import Operand

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
