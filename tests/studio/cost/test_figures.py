"""The pictures of predicted time: a roofline, lanes of parts, predicted beside measured."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from optimizer.cost.classes import OperatorClass
from optimizer.cost.device import Level
from optimizer.cost.devices import CORTEX_X4, H200
from optimizer.cost.node import Cost
from optimizer.cost.predict import NodePrediction, Parts
from studio.cost.prediction.accuracy import Accuracy, Pair, compared, spearman
from studio.cost.prediction.figure import change_title, predicted_against_measured, slowest
from studio.cost.prediction.groups import grouped, shares
from studio.cost.prediction.job import PredictedGraph
from studio.cost.prediction.lanes_figure import LaneNode, LaneRow, lanes
from studio.cost.roofline.figure import roofline, without_arithmetic
from studio.timeline.node_times import MeasuredKernel, StepTimes


def node(identity: str, operator: str, parts: Parts, **about: Any) -> NodePrediction:
    kind = about.get("kind", OperatorClass.GEMM)
    cost = Cost(about.get("flops", 0), about.get("read", 0), about.get("written", 0))
    name = about.get("name", f"/{identity}")
    return NodePrediction(identity, name, operator, kind, cost, parts, about.get("rate", 0.0))


PRODUCT: dict[str, Any] = {"flops": 2_000_000, "read": 30_000, "written": 10_000, "rate": 1e11}
GRAPH = PredictedGraph(
    4,
    (
        node("n1", "MatMul", Parts(2, 1, 20, 1), **PRODUCT),
        node("n2", "MatMul", Parts(2, 1, 20, 1), **PRODUCT),
        node("n3", "Add", Parts(2, 4, 1, 2), flops=1000, read=8000, written=4000, rate=1e10,
             kind=OperatorClass.ELEMENTWISE, name="<b>evil</b>"),
        node("n4", "Transpose", Parts(2, 3, 0, 3), read=4000, written=4000,
             kind=OperatorClass.TRANSPOSE),
    ),
    ("→ 10×10", "→ 10×10", "→ 10×100", "0, 2, 1 → 10×100"),
)  # fmt: skip
SOURCE = replace(GRAPH, step=0, nodes=(*GRAPH.nodes, GRAPH.nodes[2]), details=(*GRAPH.details, ""))


def traces(figure: Any, kind: str) -> list[Any]:
    return [trace for trace in figure.data if trace.type == kind]


def test_equal_work_is_one_dot_and_its_area_is_the_time_of_all_of_it() -> None:
    groups = grouped(GRAPH)
    assert [len(group.nodes) for group in groups] == [2, 1, 1]
    assert groups[0].total_us == 44
    assert groups[0].title == "2 × MatMul → 10×10"
    assert sum(group.total_us for group in groups) == GRAPH.total_us
    figure: Any = roofline(CORTEX_X4, (), groups, title="", dark=False)
    dots = [trace for trace in traces(figure, "scatter") if trace.mode == "markers"]
    product = next(trace for trace in dots if trace.customdata[0][0] == "after:n1")
    add = next(trace for trace in dots if trace.customdata[0][0] == "after:n3")
    area = (product.marker.size[0] / add.marker.size[0]) ** 2
    assert area == pytest.approx(44 / 8)


def test_equal_work_in_colder_caches_is_the_same_work() -> None:
    nodes = (GRAPH.nodes[0], replace(GRAPH.nodes[1], parts=Parts(6, 1, 20, 1)))
    (group,) = grouped(replace(GRAPH, nodes=nodes, details=("", "")))
    assert group.parts == Parts(8, 2, 40, 2)
    assert group.total_us == sum(node.parts.total_us for node in nodes)
    assert group.flops_per_s == pytest.approx(4_000_000 / 48e-6)


def test_a_dot_stands_at_its_intensity_and_at_what_it_reaches_with_its_launch() -> None:
    figure: Any = roofline(CORTEX_X4, (), grouped(GRAPH), title="", dark=True)
    dot = next(
        trace for trace in traces(figure, "scatter")
        if trace.mode == "markers" and trace.customdata[0][0] == "after:n1"
    )  # fmt: skip
    assert dot.x[0] == 2_000_000 / 40_000
    assert dot.y[0] == pytest.approx(2_000_000 / 22e-6)


def test_no_dot_lies_above_its_classes_roof_and_every_level_of_memory_is_drawn() -> None:
    figure: Any = roofline(H200, grouped(SOURCE), grouped(GRAPH), title="", dark=False)
    texts = [annotation.text for annotation in figure.layout.annotations]
    assert any(text.startswith("matrix product 100 GFLOP/s") for text in texts)
    assert any(text.startswith("L2 ") for text in texts)
    assert any(text.startswith("HBM3e 4.8 TB/s") for text in texts)
    low, high = figure.layout.yaxis.range
    for trace in traces(figure, "scatter"):
        if trace.mode == "markers":
            assert all(low < math.log10(y) < high for y in trace.y)


def test_parts_of_one_cache_that_are_equally_fast_have_one_short_name() -> None:
    near = (Level("L2", 1 << 20, 9e10), Level("L3, 16 MiB", 1 << 24, 3e10),
            Level("L3, 48 MiB", 3 << 24, 2.9e10), Level("memory", None, 1e10))  # fmt: skip
    device = replace(CORTEX_X4, levels=near)
    figure: Any = roofline(device, (), grouped(GRAPH), title="", dark=False)
    texts = [annotation.text for annotation in figure.layout.annotations]
    assert texts[-3:] == ["L2 90 GB/s", "L3 30 GB/s", "memory 10 GB/s"]


def test_the_source_is_drawn_as_grey_rings_under_the_step() -> None:
    figure: Any = roofline(CORTEX_X4, grouped(SOURCE), grouped(GRAPH), title="", dark=False)
    marks = [trace for trace in traces(figure, "scatter") if trace.mode == "markers"]
    assert [trace.marker.symbol for trace in marks] == ["circle-open", "circle", "circle"]
    assert {data[0].split(":")[0] for data in marks[0].customdata} == {"before"}


def test_names_of_a_model_are_escaped_where_plotly_reads_markup() -> None:
    figure: Any = roofline(CORTEX_X4, (), grouped(GRAPH), title="", dark=False)
    bars: Any = slowest(grouped(GRAPH), GRAPH.total_us, top=5)
    hovers = [data[1] for trace in (*figure.data, *bars.data) for data in trace.customdata or ()]
    assert any("&lt;b&gt;evil" in hover for hover in hovers)
    assert not any("<b>evil" in hover for hover in hovers)


def test_what_computes_nothing_is_counted_for_the_caption() -> None:
    assert without_arithmetic(grouped(GRAPH)) == (1, 8.0)


def test_the_longer_lane_is_the_length_of_a_row() -> None:
    parts = (Parts(2, 3, 10, 4), Parts(1, 6, 2, 3))
    row = LaneRow("row", tuple(LaneNode(each) for each in parts))
    figure: Any = lanes([row], title="")
    ends = [
        base + x
        for trace in traces(figure, "bar")
        for base, x in zip(trace.base, trace.x, strict=True)
    ]
    assert row.total_us == 12 + 10
    assert max(ends) == pytest.approx(row.total_us)
    compute = next(trace for trace in figure.data if trace.name == "compute")
    assert list(zip(compute.base, compute.x, strict=True)) == [(2, 10), (13, 2)]


def test_the_pointer_tells_how_long_a_part_is_wherever_it_begins() -> None:
    figure: Any = lanes([LaneRow("row", (LaneNode(Parts(2, 3, 10, 4)),))], title="")
    ends = {trace.name: trace.customdata[0][1].rpartition("<b>")[2] for trace in figure.data}
    assert ends == {
        "launch": "launch: 2 µs</b>", "compute": "compute: 10 µs</b>",
        "read": "read: 3 µs</b>", "write": "write: 4 µs</b>",
    }  # fmt: skip


def test_the_title_says_before_after_and_what_bounds_most() -> None:
    title = change_title(CORTEX_X4, SOURCE, GRAPH)
    assert "predicted 68 → 60 µs, −11.8 %" in title
    assert title.endswith("73 % of it is bound by arithmetic")
    assert "→" not in change_title(CORTEX_X4, GRAPH, GRAPH)
    assert sum(shares(GRAPH.nodes).values()) == pytest.approx(1)


def test_the_slowest_are_drawn_and_the_title_says_which_part_they_are() -> None:
    figure: Any = slowest(grouped(GRAPH), GRAPH.total_us, top=1)
    assert figure.layout.title.text == "The slowest 1 kinds of work are 73 % of the predicted time"
    assert len(figure.layout.yaxis.ticktext) == 1


def test_an_operator_that_computes_several_nodes_is_beside_all_of_them() -> None:
    measured = StepTimes(
        4,
        "step 4",
        (
            MeasuredKernel(0.0, 31.0, "FusedMatMul", ("n1", "n3")),
            MeasuredKernel(0.0, 9.0, "Transpose", ("n4",)),
            MeasuredKernel(0.0, 5.0, "ReorderOutput", ()),
            MeasuredKernel(0.0, 0.0, "Transpose", ("n4",)),
        ),
    )
    found = compared(GRAPH, measured)
    assert [pair.predicted_us for pair in found.pairs] == [22 + 8, 8]
    assert (found.left_out_us, found.too_short) == (5.0, 1)
    assert found.ratio == pytest.approx(38 / 40)
    assert math.isnan(found.spearman)


def test_rank_correlation_is_that_of_the_ranks_with_ties_in_the_middle() -> None:
    assert spearman([1, 2, 3, 4], [10, 200, 3000, 40000]) == pytest.approx(1)
    assert spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1)
    assert spearman([1, 1, 2, 3], [1, 2, 3, 4]) == pytest.approx(0.9486833)
    assert math.isnan(spearman([1, 1, 1], [1, 2, 3]))


def test_predicted_and_measured_share_one_scale_and_the_title_has_both_totals() -> None:
    pairs = tuple(
        Pair(f"n{i}", "", "MatMul" if i % 2 else "Add", float(i), 2.0 * i) for i in range(1, 6)
    )
    figure: Any = predicted_against_measured(Accuracy("last", pairs), dark=False)
    assert figure.layout.title.text == ("Predicted 15 µs, measured 30 µs (0.50×); Spearman 1.00")
    assert figure.layout.xaxis.range == figure.layout.yaxis.range
    dots = [trace for trace in traces(figure, "scatter") if trace.mode == "markers"]
    assert sum(len(trace.x) for trace in dots) == len(pairs)
