"""The catalogue: what stands there is all that other rooms know about an operator."""

from __future__ import annotations

import subprocess
import sys

import onnx
import onnx.parser
import onnx_ir as ir
import pytest

from optimizer.folding.evaluate import FOLDED
from optimizer.operators.catalogue import (
    BROADCASTING,
    CATALOGUE,
    GROUPS,
    RESHAPING,
    STANDARD,
    is_random,
)
from optimizer.operators.operator import Layout, Precision

PLANTED = """
import sys
import numpy as np
from optimizer.operators import elementwise
from optimizer.operators.broadcasting import like_first
from optimizer.operators.flops import fixed
from optimizer.operators.kernels import unary
from optimizer.operators.operator import Operator, OperatorClass

elementwise.OPERATORS += (
    Operator(
        "Thrice", like_first, category="act", overwrites="first",
        kernel=unary(lambda x: 3 * x), flops=fixed(7), kind=OperatorClass.TRANSCENDENTAL,
    ),
)
from optimizer.cost import node_cost
from optimizer.cost.classes import operator_class
from optimizer.memory.program import may_write_over
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from studio.graphview.categories import category
from tests.optimizer.graphs import opened

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g '
model = opened(HEAD + "(float[2, 3] x) => (y) { a = Abs(x) y = Thrice(a) }")
node = model.ir.graph[1]
assert node.outputs[0].shape == (2, 3), "no type rule"
assert node_cost(node).flops == 7 * 6, "not counted"
assert operator_class(node) == OperatorClass.TRANSCENDENTAL, "not classed"
assert may_write_over(node) == [node.inputs[0]], "not in place"
assert category("Thrice") == "act", "not drawn"
model = opened(HEAD + "() => (y) <float[2] w = {1, 2}> { y = Thrice(w) }")
optimize(model, Pipeline.of("none", enable=["fold-constants"]))
assert model.ir.graph.outputs[0].const_value.numpy().tolist() == [3, 6], "not folded"
"""
LAYOUTS: dict[str, Layout] = {
    "Conv": "sensitive", "MaxPool": "sensitive", "BatchNormalization": "sensitive",
    "DepthToSpace": "sensitive", "MatMul": "sensitive", "Reshape": "sensitive",
    "Relu": "agnostic", "Add": "agnostic", "Cast": "agnostic", "Where": "agnostic",
    "Concat": "follows", "Softmax": "follows", "ReduceMean": "follows", "Pad": "follows",
    "Transpose": "follows", "Resize": "follows", "Split": "follows",
}  # fmt: skip
PRECISIONS: dict[str, Precision | None] = {
    "Relu": "safe", "Add": "safe", "Gather": "safe", "Resize": "safe", "MaxPool": "safe",
    "Conv": "accumulates", "MatMul": "accumulates", "Softmax": "accumulates",
    "LayerNormalization": "accumulates", "ReduceMean": "accumulates",
    "Exp": "range-critical", "Pow": "range-critical", "ReduceL2": "range-critical",
    "ArgMax": "range-critical", "Less": "range-critical", "Cos": "range-critical",
    "NonMaxSuppression": None, "QLinearConv": None, "Loop": None,
}  # fmt: skip


def test_an_operator_described_in_one_place_is_counted_folded_classed_and_drawn() -> None:
    subprocess.run([sys.executable, "-c", PLANTED], check=True)


def test_reading_the_catalogue_does_not_load_the_reference_implementations() -> None:
    code = "import sys, optimizer.operators.catalogue; assert 'onnx.reference' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_operator_is_described_twice() -> None:
    names = [(one.domain, one.name) for group in GROUPS for one in group.OPERATORS]
    assert len(names) == len(set(names)) == len(CATALOGUE)


def test_what_is_said_to_be_of_onnx_is() -> None:
    contrib = {"ScaledTanh", "SimplifiedLayerNormalization"}  # ONNX Runtime puts them there
    names = {name for domain, name in CATALOGUE if not domain}
    assert {name for name in names if not onnx.defs.has(name)} <= contrib


def test_what_is_folded_says_how_large_it_gets_and_is_not_random() -> None:
    for name in FOLDED:
        operator = CATALOGUE["", name]
        assert operator.types is not None, name
        assert not operator.random, name


@pytest.mark.parametrize(("name", "layout"), LAYOUTS.items())
def test_a_layout_is_what_the_specification_says(name: str, layout: Layout) -> None:
    assert CATALOGUE["", name].layout == layout


@pytest.mark.parametrize(("name", "precision"), PRECISIONS.items())
def test_what_16_bits_do_to_an_operator_is_said_for_those_that_were_looked_at(
    name: str, precision: Precision | None
) -> None:
    assert CATALOGUE["", name].precision == precision


def test_whatever_may_take_16_bits_takes_float16_or_no_numbers_with_a_point_at_all() -> None:
    for operator in (op for (domain, _), op in CATALOGUE.items() if not domain and op.precision):
        if not onnx.defs.has(operator.name):
            continue
        schema = onnx.defs.get_schema(operator.name)
        kinds = {kind for one in schema.type_constraints for kind in one.allowed_type_strs}
        assert "tensor(float16)" in kinds or "tensor(float)" not in kinds, operator.name


@pytest.mark.parametrize(
    ("node", "opset", "random"),
    [
        ("RandomNormalLike(x)", 17, True),
        ("com.microsoft.BitmaskDropout(x)", 17, True),
        ("my.RandomNormalLike(x)", 17, False),
        ("Relu(x)", 17, False),
        ("Dropout(x)", 17, False),
        ("Dropout(x, r, no)", 17, False),
        ("Dropout(x, r, yes)", 17, True),
        ("Dropout(x, r, t)", 17, True),
        ("Dropout(x)", 6, True),
        ("Dropout<is_test=1>(x)", 6, False),
    ],
)
def test_a_node_is_random_where_two_runs_may_differ(node: str, opset: int, random: bool) -> None:
    text = (
        f'<ir_version: 8, opset_import: ["" : {opset}, "com.microsoft" : 1, "my" : 1]> g '
        "(float[4] x, bool t) => (y) <float r = {0.5}, bool no = {0}, bool yes = {1}>"
        f"{{ y = {node} }}"
    )
    assert is_random(ir.from_proto(onnx.parser.parse_model(text)).graph[0]) == random


def test_the_two_names_of_onnx_itself_mean_the_same() -> None:
    assert {"", "ai.onnx"} == STANDARD


def test_what_holds_indices_says_what_they_stay_below() -> None:
    indexed = {(op.name, index) for op in CATALOGUE.values() for index in op.indexes}
    assert {
        ("Gather", 1),
        ("GatherND", 1),
        ("OneHot", 0),
        ("EmbedLayerNormalization", 1),
    } <= indexed


def test_views_and_what_broadcasts_are_read_off_the_catalogue() -> None:
    assert set(RESHAPING) == {"Flatten", "Reshape", "Squeeze", "Unsqueeze"}
    assert {"Add", "Where", "Equal"} < BROADCASTING
    assert not BROADCASTING & {"PRelu", "Max", "Relu"}
