"""The whole block in a 16-bit type, its inputs and its result cast."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.model.graph import given_outputs
from optimizer.passes.draft import NotHere, attributes_of
from optimizer.passes.kernels.block import ACTIVATIONS
from optimizer.passes.kernels.site import Site, rewrites
from optimizer.precision.float_formats import FORMATS, FloatFormat, magnitude
from optimizer.registry import Pass, register
from optimizer.rules import Operand, Replacement

_KINDS = ("Conv", "Gemm", "MatMul", "Attention")
_LAST = ("Add", "BatchNormalization", "Conv", "Gemm", "MatMul", *sorted(ACTIVATIONS))


@register
class ComputeIn16Bits(Pass):
    """Compute heavy operators in 16 bits.

    What it does:
        A convolution, a product or an attention, with what is applied to its result element by
        element, is computed in float16, or with `bfloat` in bfloat16: float32's range, 8 bits
        of precision. Its inputs and its result are cast.
    Before:
        Conv → Relu
    After:
        Cast → Conv → Relu → Cast
    When it is safe:
        Its inputs are float32, its constants within the range. What is lost has to be worth it: no
        accuracy is promised. A whole network is better served by `convert-to-float16`.
    Numerics:
        11 bits of precision and float16's range; 8 bits as bfloat16.
    Source:
        IEEE 754, binary16.
    """

    id = "compute-in-16-bits"
    exactness = "lossy"
    global_analysis = True

    bfloat: bool = False

    @rewrites(*_LAST, name="In16Bits", kinds=_KINDS, at=-1, reach=5)
    def match(self, site: Site) -> Replacement:
        """The last node of a block."""
        return _reduced(site, FORMATS["bfloat16" if self.bfloat else "float16"])


def _reduced(site: Site, form: FloatFormat) -> Replacement:
    known: dict[ir.Value, Operand] = {}
    if not any(_is_float(value) for value in site.block.inputs):
        raise NotHere("nothing in it is float32")
    for value in site.block.inputs:
        tensor = constant_of(value)
        if not _is_float(value):
            known[value] = value
        elif tensor is None:
            known[value] = site.new("Cast", value, to=int(form.dtype))
        elif magnitude(tensor) >= form.overflow:
            raise NotHere(f"a constant of it is beyond the range of {form.name}")
        else:
            known[value] = site.weight(form.rounded(tensor.numpy()))
    for node in site.block.nodes:
        inputs = [None if value is None else known[value] for value in node.inputs]
        count, about = given_outputs(node), attributes_of(node)
        made = site.news(node.op_type, *inputs, count=count, domain=node.domain, **about)
        known[node.outputs[0]] = made[0]
    result = known[site.block.output]
    back = site.new("Cast", result, to=int(ir.DataType.FLOAT))
    why = f"All {len(site.block.nodes)} nodes take {form.name}; inputs and result are cast."
    return site.put(site.block.nodes, back, why)


def _is_float(value: ir.Value) -> bool:
    tensor = constant_of(value)
    if tensor is not None:
        return tensor.dtype == ir.DataType.FLOAT
    if not isinstance(value.type, ir.TensorType):
        raise NotHere("the type of an input is not known")
    return value.type.dtype == ir.DataType.FLOAT
