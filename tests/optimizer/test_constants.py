"""What counts as a constant: one answer for the rules, the cost and the drawing."""

from __future__ import annotations

import onnx
import onnx_ir as ir
import pytest

from optimizer.constants import constant_of
from optimizer.model.symbolic import SymbolicValues
from studio.graphview.text import vector_text
from tests.optimizer.graphs import loaded, parsed

OWN = "(float[2] x) => (float[2] y) <int64[1] w = {2}> { y = Reshape(x, w) }"
DEFAULT = "(float[2] x, int64[1] w) => (float[2] y) <int64[1] w = {2}> { y = Reshape(x, w) }"
HEAD = '<ir_version: {}, opset_import: ["" : 13]> g '


def target(text: str, version: int) -> tuple[ir.Model, ir.Value]:
    model = loaded(parsed(HEAD.format(version) + text)).ir
    value = model.graph[0].inputs[1]
    assert value is not None
    return model, value


@pytest.mark.parametrize(
    ("text", "version", "constant"),
    [(OWN, 8, True), (DEFAULT, 8, False), (DEFAULT, 4, False), (DEFAULT, 3, True)],
    ids=["no-input", "default-of-an-input", "since-ir-4", "before-ir-4"],
)
def test_a_default_that_a_caller_may_override_is_no_constant_for_anybody(
    text: str, version: int, constant: bool
) -> None:
    model, value = target(text, version)
    assert (constant_of(value) is not None) == constant
    assert (SymbolicValues(model).of(value) == (2,)) == constant
    assert (vector_text(value) == "2") == constant


def test_a_constant_node_is_read_whichever_attribute_holds_it() -> None:
    text = HEAD.format(8) + "() => (int64[2] y) { y = Constant<value_ints=[3, 4]>() }"
    tensor = constant_of(ir.from_proto(onnx.parser.parse_model(text)).graph[0].outputs[0])
    assert tensor is not None
    assert tensor.numpy().tolist() == [3, 4]
