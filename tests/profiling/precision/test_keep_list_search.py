from __future__ import annotations

import itertools
import random
from collections.abc import Collection

import numpy as np
import onnx
import pytest

from optimizer.errors import Cancelled
from optimizer.model.graph import Model
from optimizer.passes.precision.convert_to_float16 import ConvertToFloat16
from optimizer.precision.samples import Samples
from optimizer.verify import ErrorBudget
from profiling.precision.keep_list_search import find_keep_list, needed_of
from profiling.workers import WorkerPool
from tests.optimizer.graphs import opened, parsed

TWO_GENERATED = Samples(count=2)
OVERFLOW = """
   h = MatMul(x, w)
   m = Mul(h, hundred)
   large = Mul(m, thousand)
   small = Mul(large, little)
   y = MatMul(small, w)
"""
CANCELLED = """
   a = MatMul(x, w)
   far = Add(a, thousand)
   near = Sub(far, thousand)
   b = Relu(near)
   y = MatMul(b, w)
"""


def network(body: str) -> Model:
    """Of 8 x 8 matrices; adding `thousand` takes the digits that 16 bits do not have."""
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
    g (float[4,8] x) => (float[4,8] y)
    <float hundred = {{100}}, float thousand = {{1000}}, float little = {{0.00001}}> {{ {body} }}"""
    proto = parsed(text)
    matrix = np.random.default_rng(0).normal(size=(8, 8)).astype(np.float32)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(matrix, "w"))
    return opened(proto)


def test_what_leaves_the_range_is_found_in_one_run_and_kept(shared_pool: WorkerPool) -> None:
    found = find_keep_list(network(OVERFLOW), isolate=shared_pool, samples=TWO_GENERATED)
    assert found.ids == ("n2", "n3")
    assert "it gives 'large', which reaches" in found.nodes[0].reason
    assert "it reads 'large', which reaches" in found.nodes[1].reason
    assert found.histograms["large"].magnitude > 65504
    assert found.result is not None
    assert [trial.error for trial in found.trials] == [found.result.error] < [0.01]


def test_nodes_that_lose_the_digits_are_kept_and_no_others(shared_pool: WorkerPool) -> None:
    model = network(CANCELLED)
    before = [node.op_type for node in model.ir.graph]
    found = find_keep_list(model, isolate=shared_pool, samples=TWO_GENERATED)
    assert found.trials[0].error > 0.01
    assert found.result is not None
    assert found.result.error < 0.01
    assert found.irreducible
    assert 1 <= len(found.nodes) <= 2  # of MatMul, Add, Sub: what is between two is float32, too
    assert "n3" not in found.ids
    assert found.nodes[0].reason == "in 16 bits it takes the outputs beyond 1 %"
    assert [node.op_type for node in model.ir.graph] == before


def test_bfloat16_is_searched_too_and_keeps_more_where_digits_count(
    shared_pool: WorkerPool,
) -> None:
    model = network(CANCELLED)
    bfloat = ConvertToFloat16(format="bfloat16")
    found = find_keep_list(
        model, bfloat, isolate=shared_pool, samples=TWO_GENERATED, budget=ErrorBudget(30, "dB")
    )
    assert found.nodes
    assert found.result is not None
    assert found.result.sqnr_db >= 30


def test_a_network_without_loss_keeps_nothing_after_one_run(shared_pool: WorkerPool) -> None:
    found = find_keep_list(network("y = MatMul(x, w)"), isolate=shared_pool, samples=TWO_GENERATED)
    assert (found.ids, len(found.trials), found.sixteen) == ((), 1, 1)
    assert "0 nodes kept in float32, 1 in 16 bits" in str(found)


def test_where_nothing_can_be_in_16_bits_nothing_is_run(shared_pool: WorkerPool) -> None:
    found = find_keep_list(network("y = Exp(x)"), isolate=shared_pool)
    assert str(found) == "Nothing computes in 16 bits."


def test_without_enough_runs_it_says_that_more_may_be_kept_than_needed(
    shared_pool: WorkerPool,
) -> None:
    found = find_keep_list(
        network(CANCELLED), isolate=shared_pool, samples=TWO_GENERATED, most_runs=2
    )
    assert not found.irreducible
    assert len(found.trials) == 2
    assert "was not found out" in found.nodes[0].reason


def test_a_search_stops_when_it_is_asked_to(shared_pool: WorkerPool) -> None:
    with pytest.raises(Cancelled):
        find_keep_list(network(CANCELLED), isolate=shared_pool, cancelled=lambda: True)


@pytest.mark.parametrize("seed", range(20))
def test_a_subset_is_found_of_which_nothing_can_be_left_out(seed: int) -> None:
    drawn = random.Random(seed)
    names = [str(number) for number in range(12)]
    wanted = [set(drawn.sample(names, drawn.randint(1, 4))) for _ in range(2)]

    def holds(keep: Collection[str]) -> bool:
        return any(one <= set(keep) for one in wanted)

    found = needed_of(names, holds)
    assert holds(found)
    assert not any(holds(rest) for rest in itertools.combinations(found, len(found) - 1))
