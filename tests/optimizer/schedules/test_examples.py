"""Examples compute what they say; Halide is not needed for that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.evaluation import evaluate
from optimizer.schedules.examples import EXAMPLES, Example
from optimizer.schedules.program import numbers_of
from optimizer.schedules.steps import checked_nest

Array = NDArray[Any]


def computed(example: Example) -> tuple[list[Array], Array]:
    """Inputs, and the output."""
    algorithm: Algorithm = example.make(**example.small)
    random = np.random.default_rng(0)
    inputs: list[Array] = [
        random.standard_normal(numbers_of(one.shape)).astype(np.float32) for one in algorithm.inputs
    ]
    return inputs, evaluate(algorithm, inputs)[0]


def windows(data: Array, height: int, width: int) -> Array:
    return np.lib.stride_tricks.sliding_window_view(data, (height, width))


def test_a_blur_is_the_mean_of_nine_pixels() -> None:
    (image,), found = computed(EXAMPLES["blur"])
    np.testing.assert_allclose(found, windows(image, 3, 3).mean((2, 3)), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["matmul", "three-nests"])
def test_a_product_with_bias_has_nothing_below_zero(name: str) -> None:
    (a, b, bias), found = computed(EXAMPLES[name])
    np.testing.assert_allclose(found, np.maximum(a @ b + bias, 0), rtol=2e-5, atol=1e-5)


def test_both_layouts_of_a_convolution_compute_the_same() -> None:
    first, last = EXAMPLES["conv-nchw"], EXAMPLES["conv-nhwc"]
    (data, weights, bias), found = computed(first)
    turned = [data.transpose(0, 2, 3, 1), weights.transpose(2, 3, 1, 0), bias]
    other = evaluate(last.make(**last.small), [np.ascontiguousarray(one) for one in turned])[0]
    np.testing.assert_allclose(found, other.transpose(0, 3, 1, 2), rtol=2e-5, atol=1e-5)
    taps = np.stack([windows(channel, 3, 3) for channel in data[0]])
    expected = np.einsum("cyxij,ocij->oyx", taps, weights) + bias[:, None, None]
    np.testing.assert_allclose(found[0], np.maximum(expected, 0), rtol=2e-5, atol=1e-5)


def test_a_softmax_is_positive_and_1_in_sum() -> None:
    (x,), found = computed(EXAMPLES["softmax"])
    powers = np.exp(x - x.max(-1, keepdims=True))
    np.testing.assert_allclose(found, powers / powers.sum(-1, keepdims=True), rtol=2e-6)


def test_a_corner_is_where_both_differences_are_large() -> None:
    example = EXAMPLES["harris"]
    algorithm = example.make(height=12, width=12)
    image = np.zeros((16, 16), np.float32)
    image[8:, 8:] = 1
    (found,) = evaluate(algorithm, [image])
    at = np.unravel_index(found.argmax(), found.shape)
    assert at in {(5, 5), (6, 6), (5, 6), (6, 5)}
    assert found[0, 0] == 0


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=lambda one: one.id)
def test_every_schedule_of_an_example_has_a_nest_at_both_sizes(example: Example) -> None:
    for sizes in (example.sizes, example.small):
        algorithm = example.make(**sizes)
        for one in example.schedules:
            nodes = checked_nest(algorithm, one.schedule).nodes
            assert {node.func for node in nodes if node.kind == "compute"} >= {nodes[0].func}


def test_an_example_teaches_in_two_sentences_and_its_schedules_in_one() -> None:
    for example in EXAMPLES.values():
        assert example.teaches.count(". ") == 1, example.id
        assert example.teaches.endswith(".")
        assert len({one.name for one in example.schedules}) == len(example.schedules) > 1
        for one in example.schedules:
            assert ". " not in one.teaches, one.name
            assert one.teaches.endswith(".")
