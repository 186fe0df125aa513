"""Operators by what limits them, and the size that their rate depends on."""

from __future__ import annotations

import pytest

from optimizer.cost.classes import OperatorClass, operator_class
from optimizer.cost.sizes import Sizes
from optimizer.cost.widths import width_of
from tests.optimizer.cost.nodes import model_of, node_of

CASES = [
    ("Conv(image, dense)", OperatorClass.DENSE_CONV, 4),
    ("Conv(image, pointwise)", OperatorClass.POINTWISE_CONV, 4),
    ("Conv<group=3>(image, depthwise)", OperatorClass.DEPTHWISE_CONV, 8 * 8),
    ("Conv<group=3>(image, grouped)", OperatorClass.GROUPED_CONV, 6 / 3),
    ("MatMul(matrix, right)", OperatorClass.GEMM, 4),
    ("MatMul(batch, right)", OperatorClass.GEMM, 4),
    ("MatMul(batch, others)", OperatorClass.BATCHED_MATMUL, 8),
    ("Add(matrix, matrix)", OperatorClass.ELEMENTWISE, 8 * 16),
    ("Add(matrix, row)", OperatorClass.ELEMENTWISE, 16),
    ("Add(matrix, column)", OperatorClass.ELEMENTWISE, 16),
    ("Tanh(matrix)", OperatorClass.TRANSCENDENTAL, 8 * 16),
    ("Softmax(matrix)", OperatorClass.SOFTMAX, 16),
    ("ReduceMean<axes=[1]>(matrix)", OperatorClass.REDUCTION, 16),
    ("MaxPool<kernel_shape=[3, 3], strides=[2, 2]>(image)", OperatorClass.POOLING, 9 / 4),
    ("AveragePool<kernel_shape=[10, 10]>(image)", OperatorClass.POOLING, 100),
    ("Transpose<perm=[1, 0, 2]>(batch)", OperatorClass.BLOCK_TRANSPOSE, 16 * 4),
    ("Transpose<perm=[1, 0]>(matrix)", OperatorClass.TRANSPOSE, 2 * 8 * 16 * 4),
    ("Concat<axis=1>(matrix, matrix)", OperatorClass.COPY, 16 * 4),
    ("Flatten(image)", OperatorClass.VIEW, 1),
    ("Cast<to=1>(matrix)", OperatorClass.VIEW, 1),
    ("Cast<to=7>(matrix)", OperatorClass.ELEMENTWISE, 8 * 16),
]


@pytest.mark.parametrize(("call", "kind", "width"), CASES)
def test_a_node_has_the_class_and_the_width_that_its_shapes_say(
    call: str, kind: OperatorClass, width: float
) -> None:
    node = node_of(call)
    assert operator_class(node) == kind
    assert width_of(node, kind, Sizes()) == pytest.approx(width)


def test_an_axis_of_size_one_does_not_count_as_moved() -> None:
    body = "g (float[1, 4, 8] x) => (y) { y = Transpose<perm=[1, 0, 2]>(x) }"
    node = model_of(body).graph[0]
    assert operator_class(node) == OperatorClass.BLOCK_TRANSPOSE
    assert width_of(node, OperatorClass.BLOCK_TRANSPOSE, Sizes()) == 4 * 8 * 4


def test_an_operator_of_an_unknown_domain_has_no_class() -> None:
    assert operator_class(node_of("my.Op(matrix)")) is None


def test_an_operator_of_onnx_that_nobody_named_is_elementwise() -> None:
    assert operator_class(node_of("Relu(matrix)")) == OperatorClass.ELEMENTWISE
