"""What shape inference leaves to a run is what the run would find out, and never stale."""

from __future__ import annotations

import re

import onnx
import onnx_ir as ir
import pytest

from optimizer.model.binding import bind_dimensions
from optimizer.model.graph import Model, identify, walk_nodes
from optimizer.model.known_values import take
from optimizer.model.shapes import infer_shapes
from optimizer.model.symbolic import SymbolicValues
from optimizer.rewrite.graph_state import GraphState
from tests.optimizer.graphs import parsed
from tests.optimizer.model.test_shapes import LOOP, crashing, here, model_of
from tests.optimizer.passes import golden
from tests.optimizer.random_blocks import ALL_PATTERNS
from tests.optimizer.random_graphs import seeded

TEXT = '<ir_version: 8, opset_import: ["" : 17]> g (float["n"] x) => (y) { y = Relu(x) }'


def read(proto: onnx.ModelProto) -> Model:
    """A model in which nothing has been inferred."""
    return Model(ir=ir.from_proto(proto), name="test", digest="")


def facts(model: Model, table: SymbolicValues) -> list[str]:
    """All that a table says; symbols of unknown sizes are numbered as they are met."""
    values = [value for node in walk_nodes(model.ir.graph) for value in node.outputs]
    told = [re.sub(r"\?\d+", "?", repr(table.fact(value))) for value in values]
    return [*told, *table.contradictions.values()]


@pytest.mark.parametrize("source", ["golden cases", "random graphs"])
def test_what_is_kept_is_what_a_new_table_says(source: str) -> None:
    golden_cases = (parsed(case.before) for case in golden.cases())
    random_graphs = (seeded(seed, ALL_PATTERNS) for seed in range(20))
    for proto in golden_cases if source == "golden cases" else random_graphs:
        model = read(proto)
        infer_shapes(model, isolate=crashing)
        assert facts(model, take(model.ir)) == facts(model, SymbolicValues(model.ir))


def test_what_others_inferred_is_kept_too() -> None:
    model = model_of(LOOP)
    infer_shapes(model, isolate=here)
    assert facts(model, take(model.ir)) == facts(model, SymbolicValues(model.ir))


def test_only_the_first_who_asks_gets_what_was_kept() -> None:
    model = read(parsed(TEXT))
    infer_shapes(model, isolate=here)
    assert take(model.ir) is not take(model.ir)


def test_a_model_that_changes_keeps_nothing() -> None:
    model = read(parsed(TEXT))
    identify(model.ir)
    infer_shapes(model, isolate=here)
    bind_dimensions(model.ir, {"n": 3})
    assert not model.ir.meta
    infer_shapes(model, isolate=here)
    GraphState(model.ir)
    assert not model.ir.meta


def test_a_clone_is_not_told_of_the_values_of_its_original() -> None:
    model = read(parsed(TEXT))
    infer_shapes(model, isolate=here)
    assert model.ir.meta
    assert not model.ir.clone().meta
