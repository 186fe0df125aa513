from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx.parser
import pytest

from optimizer.model.graph import Model
from optimizer.model.loader import load_path
from optimizer.model.symbolic import SymbolicValues
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.replay import Cursor
from studio.gallery import gallery
from studio.graphview.dot import MOST_BOXES, box_count, dot_text, label
from studio.graphview.graph_file import graph_json, groups_of
from studio.graphview.steps_file import steps_json
from tests.optimizer.graphs import opened as parsed_model
from tests.optimizer.passes import golden

NESTED = "inline-known-branch/takes-control-flow-in-the-branch-with-it"
NETWORKS = ("tour", "resnet50", "bert", "whisper-encoder", NESTED)


def opened(network: str) -> Model:
    if network == NESTED:
        paths = (case for case in golden.cases() if case.path.match(f"{NESTED}.txt"))
        model = parsed_model(next(paths).before)
    else:
        model = load_path(gallery.open_path(network))
    SymbolicValues(model.ir).propagate(model.ir.graph)
    return model


def drawing(model: Model) -> dict[str, Any]:
    graph = model.ir.graph
    return graph_json(graph, key="k", name=model.name, groups=groups_of(graph))


@pytest.mark.parametrize("network", NETWORKS)
def test_patches_lead_from_the_source_drawing_to_the_optimized_one(network: str) -> None:
    model = opened(network)
    before = drawing(model)
    trace = optimize(model, Pipeline.of("runtime"))
    after = drawing(model)
    cursor = Cursor.at_end(trace)
    cursor.seek(0)
    steps = steps_json(cursor, key="s", graph_key="k", groups=groups_of(model.ir.graph))
    nodes = {node["id"] for node in before["nodes"]}
    edges = {tuple(edge) for edge in before["edges"]}
    for step in steps["steps"]:
        assert set(step["removed"]) <= nodes
        nodes = nodes - set(step["removed"]) | set(step["added"])
        gone = {tuple(edge) for edge in step.get("edges_removed", [])}
        assert gone <= edges
        edges = edges - gone | {tuple(edge) for edge in step.get("edges_added", [])}
    assert nodes == {node["id"] for node in after["nodes"]}
    assert edges == {tuple(edge) for edge in after["edges"]}


@pytest.mark.parametrize("network", NETWORKS)
def test_replacements_keep_every_edge_pointing_forward(network: str) -> None:
    model = opened(network)
    before = drawing(model)
    trace = optimize(model, Pipeline.of("runtime"))
    cursor = Cursor.at_end(trace)
    cursor.seek(0)
    steps = steps_json(cursor, key="s", graph_key="k", groups=groups_of(model.ir.graph))
    slots = list(dict.fromkeys(node["id"] for node in before["nodes"]))
    slot_of = {identity: identity for identity in slots}
    for node in steps["nodes"]:
        if node["slot"] is None:
            slots.insert(slots.index(slot_of[node["near"]]), node["id"])
            slot_of[node["id"]] = node["id"]
        else:
            slot_of[node["id"]] = slot_of[node["slot"]]
    place = {identity: index for index, identity in enumerate(slots)}
    edges = [tuple(edge) for edge in before["edges"]]
    edges += [tuple(edge) for step in steps["steps"] for edge in step.get("edges_added", [])]
    for start, end, *_ in edges:
        if start in slot_of and end in slot_of:
            assert place[slot_of[start]] <= place[slot_of[end]], (start, end)


@pytest.mark.parametrize("network", ["gpt2", "tour"])
def test_a_short_integer_vector_is_written_out_and_not_listed_as_a_weight(network: str) -> None:
    short = 0
    for node in drawing(opened(network))["nodes"]:
        vectors = {
            f"{port[0]} {port[3]}"
            for port in node["in"]
            if port[-1] == "weight" and port[2] == "int64" and port[3].isdecimal()
            if int(port[3]) <= 8
        }
        short += len(vectors)
        assert not vectors & set(node.get("rows", []))
    assert short > 0


def test_a_small_bias_is_still_listed_as_a_weight() -> None:
    nodes = drawing(opened("tour"))["nodes"]
    assert any("B 8" in n.get("rows", []) for n in nodes if n["op"] == "BatchNormalization")


def test_a_picture_is_folded_until_it_fits() -> None:
    assert box_count(drawing(opened("bert"))) <= MOST_BOXES


def test_a_closed_group_is_one_box() -> None:
    graph = drawing(opened("bert"))
    assert box_count(graph, open_groups=()) < 10
    assert "cluster_" not in dot_text(graph, open_groups=())


@pytest.mark.parametrize(
    "text", ["<b>x</b>", 'a"b', "a\nb\0c", "\\N", "x" * 5000, "\u202eabc", "a:b", "{a|b}"]
)
def test_a_label_is_harmless(text: str) -> None:
    import graphviz

    drawn = graphviz.Digraph()
    drawn.node("b0", label(text))
    assert len(label(text)) < 200
    assert "\0" not in drawn.source
    assert "label=<" not in drawn.source
    assert drawn.source.count("\n") == 3


def test_a_picture_follows_the_changes_made_to_the_first_folding() -> None:
    graph = drawing(opened("bert"))
    first = box_count(graph)
    group = next(g["id"] for g in graph["groups"][1:] if g["parent"] == 0)
    assert box_count(graph, open_groups=(f"-{group}",)) < first
    assert box_count(graph, open_groups=("+/no-such-group",)) == first


SHARED_WEIGHT = """
<ir_version: 8, opset_import: ["" : 17]>
agraph (float[4] x) => (float[4] y)
<float[4] w = {1, 2, 3, 4}> {
    [Identity_7] shared = Identity (w)
    [Identity_8] loose = Identity (x)
    ["/model/layer.0/Relu"] a = Relu (loose)
    ["/model/layer.1/Mul"] b = Mul (a, shared)
    ["/model/layer.1/Add"] y = Add (b, shared)
}
"""


def test_the_identity_of_a_weight_stands_with_its_readers(tmp_path: Path) -> None:
    path = tmp_path / "shared.onnx"
    path.write_bytes(onnx.parser.parse_model(SHARED_WEIGHT).SerializeToString())
    graph = drawing(load_path(path))
    names = [node["name"] for node in graph["nodes"]]
    scopes = {n["name"]: graph["groups"][n["g"]]["id"] for n in graph["nodes"]}
    assert scopes["Identity_7"] == "/model/layer.1"
    assert scopes["Identity_8"] == ""
    assert names.index("Identity_7") == names.index("/model/layer.1/Mul") - 1


def test_a_node_keeps_its_group_when_its_readers_go(tmp_path: Path) -> None:
    path = tmp_path / "shared.onnx"
    path.write_bytes(onnx.parser.parse_model(SHARED_WEIGHT).SerializeToString())
    model = load_path(path)
    groups = groups_of(model.ir.graph)
    node = next(n for n in model.ir.graph if n.name == "Identity_7")
    first = groups.of(node)
    node.outputs[0].replace_all_uses_with(model.ir.graph.inputs[0])
    assert groups.of(node) == first != 0


def test_a_step_that_merges_copies_of_a_weight_says_which_and_how_large() -> None:
    model = opened("tour")
    cursor = Cursor.at_end(optimize(model, Pipeline.of("default")))
    cursor.seek(0)
    steps = steps_json(cursor, key="s", graph_key="k", groups=groups_of(model.ir.graph))["steps"]
    merged = next(s for s in steps if s["rule"] == "DuplicateInitializer")
    assert merged["weights"] == {
        "count": 1,
        "bytes": 64,
        "dropped": [("5-dataflow.gain_copy", "float32", "16", 64)],
        "kept": ("5-dataflow.gain", "float32", "16", 64),
    }
    unread = next(s for s in steps if s["rule"] == "UnusedInitializers")
    assert unread["weights"]["kept"] is None
    assert unread["weights"]["bytes"] > 0
    assert not any("weights" in step for step in steps if step["removed"])


def test_what_goes_out_of_a_loop_is_drawn_outside() -> None:
    model = parsed_model("""
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[2, 4] x, float[4, 4] w) => (float[2, 4] y) <int64 n = {3}>
        {
           y = Loop <body = b (int64 i, bool go, float[2, 4] old)
              => (bool on, float[2, 4] new) {
              on = Identity (go)
              e = Exp (w)
              s = Sigmoid (e)
              new = MatMul (old, s)
           }> (n, , x)
        }""")
    trace = optimize(model, Pipeline.listed(["hoist-loop-invariants"]))
    cursor = Cursor.at_end(trace)
    cursor.seek(0)
    groups = groups_of(model.ir.graph)
    steps = steps_json(cursor, key="k", graph_key="g", groups=groups)
    (step,) = steps["steps"]
    new = {node["id"]: node for node in steps["nodes"]}
    assert len(step["added"]) == 2
    for identity in step["added"]:
        assert groups.entries[new[identity]["g"]]["id"] == ""
        assert new[identity]["near"] == step["root"]
        assert new[identity]["slot"] is None
