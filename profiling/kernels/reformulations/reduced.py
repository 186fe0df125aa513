"""The whole block in a 16-bit type, its inputs and its result cast."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.model.constants import constant_of
from profiling.kernels.reformulations.site import NotHere, Site


def in_float16(site: Site) -> None:
    """All of it in float16."""
    _reduced(site, ir.DataType.FLOAT16)


def in_bfloat16(site: Site) -> None:
    """All of it in bfloat16: float32's range, 8 bits of precision."""
    _reduced(site, ir.DataType.BFLOAT16)


def _reduced(site: Site, dtype: ir.DataType) -> None:
    known: dict[ir.Value, ir.Value | None] = {}
    if not any(_is_float(value) for value in site.block.inputs):
        raise NotHere("nothing in it is float32")
    for value in site.block.inputs:
        tensor = constant_of(value)
        if not _is_float(value):
            known[value] = value
        elif tensor is None:
            known[value] = site.new("Cast", value, to=int(dtype))
        else:
            known[value] = site.weight(tensor.numpy().astype(dtype.numpy()))
    for node in site.block.nodes:
        inputs = [None if value is None else known[value] for value in node.inputs]
        known[node.outputs[0]] = site.new(node.op_type, *inputs, domain=node.domain, **_plain(node))
    result = known[site.block.output]
    assert result is not None
    back = site.new("Cast", result, to=int(ir.DataType.FLOAT))
    site.put(site.block.nodes, site.block.output, back)


def _plain(node: ir.Node) -> dict[str, object]:
    return {name: attribute.value for name, attribute in node.attributes.items()}


def _is_float(value: ir.Value) -> bool:
    tensor = constant_of(value)
    if tensor is not None:
        return tensor.dtype == ir.DataType.FLOAT
    if not isinstance(value.type, ir.TensorType):
        raise NotHere("the type of an input is not known")
    return value.type.dtype == ir.DataType.FLOAT
