"""What stands beside an operator's name: formats, scales, windows of other layouts."""

from __future__ import annotations

from optimizer.model.graph import walk_nodes
from optimizer.passes.layout.assign_layout import AssignLayout
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from studio.graphview.categories import category
from studio.graphview.text import brief
from tests.optimizer.graphs import opened

QUANTIZED = """<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]>
main (float[1, 8, 4, 4] x, float s) => (float[1, 8, 4, 4] y)
<float one = {0.02}, uint8 zero = {128}, float[2] each = {0.1, 0.2}, int8[2, 2] w = {1, 2, 3, 4},
 float[1, 2] blocks = {1.5, 2.5}>
{
   a = QuantizeLinear (x, one, zero)
   y = DequantizeLinear (a, one)
   b = DequantizeLinear <axis = 0> (w, each)
   c = DequantizeLinear <axis = 0, block_size = 2> (w, blocks)
   d = QuantizeLinear (x, s, zero)
   e = com.microsoft.MatMulNBits <K = 4, N = 4, bits = 4, block_size = 32> (x, w, each)
}"""

IMAGES = """<ir_version: 8, opset_import: ["" : 17]>
main (float[1, 16, 64, 64] x) => (float[1, 16, 64, 64] y) {
   a = AveragePool <kernel_shape = [13, 13], pads = [6, 6, 6, 6]> (x)
   y = MaxPool <kernel_shape = [13, 13], pads = [6, 6, 6, 6]> (a)
}"""


def test_quantization_says_its_scale_and_zero_point_or_how_many_there_are() -> None:
    briefs = [brief(node) for node in walk_nodes(opened(QUANTIZED).ir.graph)]
    assert briefs == [
        "scale 0.02, zp 128",
        "scale 0.02",
        "2 scales, axis 0",
        "1×2 scales, blocks of 2",
        "",
        "4 bits, blocks of 32",
    ]


def test_a_conversion_says_its_formats_and_what_computes_in_a_layout_its_window() -> None:
    model = opened(IMAGES)
    optimize(model, Pipeline((AssignLayout(),)))
    nodes = {node.op_type: node for node in walk_nodes(model.ir.graph)}
    assert brief(nodes["TransData"]) == "NCHW → NCHWc16"
    assert brief(nodes["TransDataBack"]) == "NCHWc16 → NCHW"
    assert brief(nodes["BlockedMaxPool"]) == "13×13"
    assert category("BlockedConv") == category("Conv")
    assert category("TransData") == category("Transpose")
