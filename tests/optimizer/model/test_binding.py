"""Binding free dimensions to sizes."""

from __future__ import annotations

import onnx
import onnx_ir as ir
import pytest

from optimizer.errors import StudioError
from optimizer.model.binding import bind_dimensions, free_dimensions

TEXT = """
<ir_version: 8, opset_import: ["" : 17]>
g (float["batch", "past"] a, float["batch", "seq"] b) => (float["batch", "past + seq"] y)
<float["batch", "past + seq"] h, float["unk__1", 3] z>
{
  h = Concat <axis = 1> (a, b)
  z = Custom.Op(h)
  y = Relu(h)
}
"""


def model_of() -> ir.Model:
    return ir.from_proto(onnx.parser.parse_model(TEXT))


def shapes(model: ir.Model) -> list[list[object]]:
    values = [*model.graph.inputs, *(o for n in model.graph for o in n.outputs)]
    return [[d if isinstance(d, int) else d.value for d in v.shape or ()] for v in values]


def test_a_name_is_bound_in_inputs_outputs_and_between() -> None:
    model = model_of()
    bind_dimensions(model, {"batch": 1, "past": 4})
    assert shapes(model) == [
        [1, 4],
        [1, "seq"],
        [1, "seq + 4"],
        ["unk__1", 3],
        [1, "seq + 4"],
    ]


def test_an_expression_of_bound_names_becomes_a_number() -> None:
    model = model_of()
    bind_dimensions(model, {"past": 4, "seq": 2})
    assert shapes(model)[2] == ["batch", 6]


def test_other_copies_of_the_model_keep_their_shapes() -> None:
    model = model_of()
    other = model.clone()
    bind_dimensions(model, {"batch": 1})
    assert shapes(other)[0] == ["batch", "past"]


def test_a_name_that_does_not_exist_lists_what_does() -> None:
    with pytest.raises(StudioError, match="no free dimension 'sequence'; it has 'batch', 'past'"):
        bind_dimensions(model_of(), {"sequence": 1})


def test_a_negative_size_is_refused() -> None:
    with pytest.raises(StudioError, match="cannot be bound to -1"):
        bind_dimensions(model_of(), {"batch": -1})


def test_free_dimensions_are_those_of_the_inputs() -> None:
    assert free_dimensions(model_of()) == ("batch", "past", "seq")
