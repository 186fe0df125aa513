from __future__ import annotations

from itertools import islice

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.branches import cells
from optimizer.errors import PlanError
from optimizer.memory.arena import LifetimeOptions
from optimizer.memory.buffer import lower_bound
from optimizer.memory.lifetimes import lifetimes
from optimizer.memory.order import ORDERS, apply_order, reorder
from optimizer.memory.order.exact import exact_order
from optimizer.memory.order.problem import OrderProblem, bound, own_peak
from optimizer.memory.order.search import search, window_of
from optimizer.memory.pieces import peak_bytes, pieces_of
from optimizer.memory.program import read_program
from optimizer.memory.registry import Budget
from optimizer.memory.sizes import KnownSizes
from optimizer.model.graph import Model, node_id, value_id, walk_nodes
from optimizer.model.loader import load_bytes
from optimizer.model.writer import to_bytes
from tests.optimizer.graphs import loaded, opened, proto_of
from tests.optimizer.memory.random_networks import all_orders, networks
from tests.optimizer.memory.running_models import (
    UNHURRIED,
    assert_equal_outputs,
    of_gallery,
    ones,
    random_model,
)
from tests.optimizer.memory.simulated_memory import shuffled

DRAWN = settings(max_examples=150, derandomize=True)
SHARING = st.builds(LifetimeOptions, views=st.booleans(), in_place=st.booleans())
MOST_ORDERS = 800


def problem(model: Model, options: LifetimeOptions | None = None) -> OrderProblem:
    graph = model.ir.graph
    return OrderProblem(
        pieces_of(read_program(graph, KnownSizes(graph)), options or LifetimeOptions())
    )


def ids(model: Model, order: list[int]) -> list[str]:
    nodes = list(model.ir.graph)
    return [node_id(nodes[index]) for index in order]


@DRAWN
@given(networks(), SHARING)
def test_the_exact_order_is_as_good_as_the_best_of_all_orders(
    model: Model, options: LifetimeOptions
) -> None:
    every = list(islice(all_orders(problem(model).before), MOST_ORDERS + 1))
    if len(every) > MOST_ORDERS:
        return
    graph = model.ir.graph
    least = min(
        lower_bound(lifetimes(graph, options, order=ids(model, order)).buffers()) for order in every
    )
    found = reorder(graph, "exact", options=options, budget=UNHURRIED)
    assert found.peak_bytes == least
    assert found.proven
    assert found.bound_bytes == least


@DRAWN
@given(networks(), SHARING)
def test_searching_all_at_once_is_as_good_and_no_bound_is_above(
    model: Model, options: LifetimeOptions
) -> None:
    given_problem = problem(model, options)
    every = list(islice(all_orders(given_problem.before), 5000))
    least = min(peak_bytes(given_problem.pieces, order) for order in every)
    worst = max(every, key=lambda order: peak_bytes(given_problem.pieces, order))
    window = window_of(given_problem, worst, 0, len(worst), 0)
    found = search(window, least=0, most=1 << 60, budget=UNHURRIED)
    assert found.finished
    assert found.order is not None
    assert sorted(found.order) == list(range(given_problem.count))
    assert found.peak_bytes == peak_bytes(given_problem.pieces, found.order) == least
    assert own_peak(given_problem) <= bound(given_problem)[0] <= least


@DRAWN
@given(networks(most=14), SHARING, st.sampled_from(list(ORDERS)))
def test_the_peak_of_every_order_is_that_of_its_lifetimes(
    model: Model, options: LifetimeOptions, method: str
) -> None:
    graph = model.ir.graph
    found = reorder(graph, method, options=options)
    arena = lifetimes(graph, options, order=found.nodes)
    assert found.peak_bytes == lower_bound(arena.buffers())
    assert found.bound_bytes <= found.peak_bytes
    if not options.in_place:  # what is written over what depends on the order
        assert found.bound_bytes >= arena.floor_bytes()


@DRAWN
@given(networks(most=14))
@example(opened('<ir_version: 8, opset_import: ["": 18]> g (float[1] x) => (x) {}'))
def test_the_exact_order_is_never_worse_than_a_known_one(model: Model) -> None:
    graph = model.ir.graph
    known = [reorder(graph, method).peak_bytes for method in ("file", "list", "runtime")]
    assert reorder(graph, "exact").peak_bytes <= min(known)


def test_a_search_that_is_cut_short_keeps_the_best_known_order_and_claims_nothing() -> None:
    model = hard()
    given_problem = problem(model)
    order = list(range(given_problem.count))
    stopped = exact_order(given_problem, [order], Budget(seconds=0.0))
    pieces = given_problem.pieces
    assert stopped.order == order
    assert stopped.bound_bytes < peak_bytes(pieces, order)
    finished = exact_order(given_problem, [order], UNHURRIED)
    assert finished.bound_bytes == peak_bytes(pieces, finished.order) < peak_bytes(pieces, order)


def hard() -> Model:
    """Branches of different height that are joined pairwise, in a bad order."""
    first = " ".join(f"a{i} = Softmax(x)" for i in range(6))
    second = " ".join(
        f"b{i} = Concat<axis = 0>({', '.join([f'a{i}'] * (1 + i))})" for i in range(6)
    )
    third = " ".join(f"c{i} = ReduceSum<keepdims = 1>(b{i})" for i in range(6))
    joined = "y = Sum(" + ", ".join(f"c{i}" for i in range(6)) + ")"
    header = '<ir_version: 8, opset_import: ["": 18]>'
    return opened(f"{header} g (float[64] x) => (y) {{ {first} {second} {third} {joined} }}")


def nas() -> Model:
    return loaded(proto_of(cells()))


def test_cells_written_breadth_first_need_less_than_half_in_the_exact_order() -> None:
    graph = nas().ir.graph
    peaks = {method: reorder(graph, method) for method in ORDERS}
    assert peaks["exact"].proven
    assert 2 * peaks["exact"].peak_bytes < peaks["file"].peak_bytes
    assert peaks["exact"].peak_bytes < peaks["runtime"].peak_bytes


@pytest.mark.parametrize("model_id", ["resnet50", "mobilenetv2", "vit"])
def test_the_file_order_of_an_ordinary_network_is_proven_best(model_id: str) -> None:
    model = of_gallery(model_id)
    found = reorder(model.ir.graph, "exact", sizes=ones(model))
    file = reorder(model.ir.graph, "file", sizes=ones(model))
    assert found.proven
    assert found.peak_bytes == file.peak_bytes


def test_unknown_sizes_are_refused_with_the_reason() -> None:
    header = '<ir_version: 8, opset_import: ["": 18]>'
    model = opened(f'{header} g (float["n"] x) => (y) {{ a = Softmax(x) y = Softmax(a) }}')
    with pytest.raises(PlanError, match="'a': it depends on the free dimension 'n'"):
        reorder(model.ir.graph, "exact")
    assert reorder(model.ir.graph, "exact", sizes={"n": 16}).peak_bytes == 64


def test_an_applied_order_is_in_the_file_and_changes_nothing_else() -> None:
    model = nas()
    graph = model.ir.graph
    found = reorder(graph, "exact")
    moved = apply_order(model, found.nodes)
    assert [node_id(node) for node in moved.ir.graph] == list(found.nodes)
    assert [node_id(node) for node in graph] != list(found.nodes)
    assert reorder(moved.ir.graph, "file").peak_bytes == found.peak_bytes
    before, after = names(model.ir), names(moved.ir)
    assert before == after
    again = load_bytes(to_bytes(moved.ir), name="again")
    assert [node.name for node in again.ir.graph] == [node.name for node in moved.ir.graph]


def names(model: ir.Model) -> dict[str, str]:
    """Every name by its id."""
    found = {value_id(value): value.name or "" for value in model.graph.initializers.values()}
    for node in walk_nodes(model.graph):
        found[node_id(node)] = node.name or ""
        found.update({value_id(value): value.name or "" for value in node.outputs})
    return found


@pytest.mark.parametrize("seed", range(25))
def test_a_random_graph_computes_the_same_in_any_order(seed: int) -> None:
    model = random_model(seed)
    arena = lifetimes(model.ir.graph)
    moved = apply_order(model, shuffled(model.ir.graph, arena, seed))
    assert_equal_outputs(model, moved, seed=seed)


def test_constants_move_to_their_first_reader_and_bodies_stay() -> None:
    model = opened("""<ir_version: 8, opset_import: ["": 18]>
    g (bool c, float[2] x) => (y, k)
    {
      k = Constant<value = float[2] {1, 2}>()
      s = Neg(k)
      a = Exp(x)
      b = Abs(x)
      i = If (c) <
        then_branch = t () => (float[2] p) { m = Add(a, s) p = Exp(m) },
        else_branch = e () => (float[2] q) { q = Abs(a) }
      >
      y = Add(i, b)
    }""")
    moved = apply_order(model, ["n3", "n2", "n4", "n8"])
    assert [node.op_type for node in moved.ir.graph] == [
        "Abs", "Exp", "Constant", "Neg", "If", "Add",
    ]  # fmt: skip
    feeds = {"c": np.array(True), "x": np.array([3, 4], np.float32)}
    assert_equal_outputs(model, moved, feeds=feeds)


def test_an_order_that_cannot_run_is_not_applied() -> None:
    model = nas()
    order = [node_id(node) for node in model.ir.graph]
    with pytest.raises(PlanError, match="before"):
        apply_order(model, order[::-1])
    with pytest.raises(PlanError, match="runs once"):
        apply_order(model, order[:-1])
