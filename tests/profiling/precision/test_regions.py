from __future__ import annotations

import onnx_ir as ir

from optimizer.model.graph import Model
from optimizer.model.loader import load_bytes
from optimizer.model.symbolic import SymbolicValues
from profiling.precision.regions import Region, regions_of
from tests.profiling.kernels.models import floats, parsed


def graph_of(model: bytes) -> ir.Graph:
    opened: Model = load_bytes(model, name="test")
    SymbolicValues(opened.ir).propagate(opened.ir.graph)
    return opened.ir.graph


def operators(region: Region, graph: ir.Graph) -> list[str]:
    by_name = {node.name: node.op_type for node in graph}
    return [by_name[name] for name in region.nodes]


def test_a_residual_block_is_one_region_and_a_chain_ends_after_each_convolution() -> None:
    graph = graph_of(
        parsed(
            """net (float[1, 4, 8, 8] x) => (float[1, 4, 8, 8] y) {
                a = Conv <pads = [1, 1, 1, 1]> (x, w0)
                b = Relu (a)
                c = Conv <pads = [1, 1, 1, 1]> (b, w1)
                d = Relu (c)
                e = Conv <pads = [1, 1, 1, 1]> (d, w2)
                f = Add (e, b)
                y = Relu (f)
            }""",
            {name: floats(4, 4, 3, 3) for name in ("w0", "w1", "w2")},
        )
    )
    first, block = regions_of(graph)
    assert operators(first, graph) == ["Conv", "Relu"]
    assert operators(block, graph) == ["Conv", "Relu", "Conv", "Add", "Relu"]
    assert block.products == {"Conv": 2}
    assert block.weight_bytes == 2 * 4 * 4 * 3 * 3 * 4
    assert first.share + block.share == 1
    assert block.share > first.share


def test_a_mask_and_sizes_do_not_join_what_a_single_value_connects() -> None:
    graph = graph_of(
        parsed(
            """net (int64[1, 8] mask, float[1, 8, 16] x) => (float[1, 8, 16] y) {
                real = Cast <to = 1> (mask)
                axes = Constant <value = int64[1] {2}> ()
                column = Unsqueeze (real, axes)
                a = MatMul (x, w0)
                size = Shape (a)
                b = Mul (a, column)
                c = MatMul (b, w1)
                d = Mul (c, column)
                y = Reshape (d, size)
            }""",
            {name: floats(16, 16) for name in ("w0", "w1")},
        )
    )
    assert [region.products for region in regions_of(graph)] == [{"MatMul": 1}, {"MatMul": 1}]


def test_tables_are_a_region_of_their_own_and_small_ones_are_none() -> None:
    graph = graph_of(
        parsed(
            """net (int64[1, 8] word) => (float[1, 8, 16] y) {
                a = Gather (table, word)
                b = Gather (small, word)
                c = Add (a, b)
                y = MatMul (c, w)
            }""",
            {"table": floats(4096, 16), "small": floats(8, 16), "w": floats(16, 16)},
        )
    )
    tables, product = regions_of(graph)
    assert (tables.kind, product.kind) == ("embeddings", "matrix products")
    assert operators(tables, graph) == ["Gather"]
    assert tables.weight_bytes == 4096 * 16 * 4


def test_neighbours_are_put_together_until_there_are_no_more_than_asked_for() -> None:
    count = 10
    nodes = "\n".join(
        f"v{index} = MatMul ({'x' if not index else f'v{index - 1}'}, w{index})"
        for index in range(count)
    )
    text = f"net (float[1, 16] x) => (float[1, 16] v{count - 1}) {{ {nodes} }}"
    graph = graph_of(parsed(text, {f"w{index}": floats(16, 16) for index in range(count)}))
    assert len(regions_of(graph)) == count
    few = regions_of(graph, most=3)
    assert len(few) == 3
    assert [name for region in few for name in region.nodes] == [node.name for node in graph]
    assert sum(region.products["MatMul"] for region in few) == count


def test_where_no_value_flows_alone_regions_end_after_a_few_products() -> None:
    lines = ["a0 = MatMul (x, w)", "b0 = MatMul (x, w)"]
    for index in range(1, 12):
        lines += [f"a{index} = MatMul (a{index - 1}, w)", f"b{index} = MatMul (b{index - 1}, w)"]
    text = f"net (float[1, 16] x) => (float[1, 16] y) {{ {' '.join(lines)} y = Add (a11, b11) }}"
    regions = regions_of(graph_of(parsed(text, {"w": floats(16, 16)})))
    assert [region.products["MatMul"] for region in regions] == [1, 7, 8, 8]


def test_a_model_without_constant_weights_has_no_regions() -> None:
    text = "net (float[2, 2] x) => (float[2, 2] y) { a = MatMul (x, x) y = Relu (a) }"
    assert regions_of(graph_of(parsed(text, {}))) == ()


def test_regions_have_titles_that_tell_them_apart() -> None:
    text = """net (float[1, 16] x) => (float[1, 16] c) {
        a = MatMul (x, w)
        b = Relu (a)
        c = MatMul (b, w)
    }"""
    titles = [region.title for region in regions_of(graph_of(parsed(text, {"w": floats(16, 16)})))]
    assert len(set(titles)) == len(titles) == 2
