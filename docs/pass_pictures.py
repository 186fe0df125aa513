"""What a rule does, as a picture: one golden case of a pass, before and after, side by side.

The case is the one whose comments say `# picture`, else of those that fire the smallest that has
the operators which the pass's own text has before and after. The pictures lie with the page of the
studio that shows them, and are installed with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx_ir as ir

from docs.graph_drawing import Box, Mark, Side, picture
from optimizer.model.graph import graph_id, walk_nodes
from optimizer.registry import find
from studio.graphview.graph_file import graph_json, groups_of
from tests.optimizer.graphs import opened
from tests.optimizer.passes import golden

FOLDER = Path(__file__).parents[1] / "studio" / "passes" / "pictures"
_CHOSEN = re.compile(r"^# picture$", re.MULTILINE)
_OPERATOR = re.compile(r"\b[A-Z]\w+")
_NEW = re.compile(r"~\d+$")
"""Ends the names of nodes that a rewrite made."""


def pass_pictures() -> dict[Path, str]:
    """The picture of every pass that has a golden case that fires."""
    by_pass: dict[str, list[golden.Case]] = {}
    for path in sorted(golden.FOLDER.glob("*/*.txt")):
        by_pass.setdefault(path.parent.name, []).append(golden.read(path))
    chosen = {pass_id: _chosen(pass_id, cases) for pass_id, cases in by_pass.items()}
    return {FOLDER / f"{pass_id}.svg": _drawn(case) for pass_id, case in chosen.items() if case}


def _chosen(pass_id: str, cases: Sequence[golden.Case]) -> golden.Case | None:
    """The one to draw of a pass's cases; None where none fires."""
    firing = [case for case in cases if _squeezed(case.before) != _squeezed(case.sections["after"])]
    marked = [case for case in cases if _CHOSEN.search(case.head)]
    declared = find(pass_id)
    text: Mapping[str, str] = {} if declared is None else declared.documentation()
    told = [_operators(text.get(side, "")) for side in ("Before", "After")]
    known = frozenset[str]().union(*(ops for case in firing for ops in _sides(case)))

    def lacking(case: golden.Case) -> int:
        return sum(
            len((words & known) - has) for words, has in zip(told, _sides(case), strict=True)
        )

    ranked = sorted(firing, key=lambda case: (lacking(case), _size(case), case.path.stem))
    changing = [case for case in ranked if not case.path.stem.startswith("keeps-")]
    return next(iter([*marked, *changing]), None)


def _sides(case: golden.Case) -> list[frozenset[str]]:
    return [_operators(text) for text in (case.before, case.sections["after"])]


def _operators(text: str) -> frozenset[str]:
    return frozenset(_OPERATOR.findall(text))


def _size(case: golden.Case) -> int:
    return len(case.before) + len(case.sections["after"])


def _squeezed(text: str) -> str:
    return "".join(text.split())


@dataclass(slots=True)
class _Graph:
    """One side of a case: what the viewer draws, by what a node is called in both texts."""

    model: ir.Model
    document: dict[str, Any]
    nodes: dict[str, dict[str, Any]]

    @staticmethod
    def of(text: str) -> _Graph:
        model = opened(text).ir
        graph = model.graph
        document = graph_json(graph, key="", name="", groups=groups_of(graph))
        return _Graph(model, document, {_identity(n): n for n in document["nodes"]})

    @property
    def opset(self) -> int:
        return self.model.graph.opset_imports.get("", 0)


def _identity(node: Mapping[str, Any]) -> str:
    """A node that neither its operator nor its outputs' names tell from another is the same."""
    names = "|".join(port[1] for port in node["out"])
    return f"{node.get('domain', '')}:{node['op']}:{names}"


def _look(node: Mapping[str, Any]) -> tuple[object, ...]:
    """What is said of a node, but for the names of what it reads that varies."""
    inputs = [port if port[-1] in ("weight", "constant") else port[2:4] for port in node["in"]]
    outputs = [port[2:] for port in node["out"]]
    return node.get("attrs", []), inputs, outputs


def _drawn(case: golden.Case) -> str:
    before, after = _Graph.of(case.before), _Graph.of(case.sections["after"])
    was, now = _marks(before, after)
    weights = not was and not now
    sides = [
        _side(before, was, "before", weights_of=after if weights else None, sign="removed"),
        _side(after, now, "after", weights_of=before if weights else None, sign="added"),
    ]
    if before.opset != after.opset:
        for side, graph in zip(sides, (before, after), strict=True):
            side.title = f"{side.title} · opset {graph.opset}"
    told = "; ".join(f"{side.title}: {_told(side)}" for side in sides)
    one, other = (Side(s.title, s.boxes, s.edges) for s in sides)
    return picture(one, other, told=told)


def _marks(before: _Graph, after: _Graph) -> tuple[dict[str, Mark], dict[str, Mark]]:
    """What the rewrite does to the nodes of both sides, by identity."""
    was: dict[str, Mark] = {}
    now: dict[str, Mark] = {}
    for identity, node in after.nodes.items():
        old = before.nodes.get(identity)
        if old is None or (_NEW.search(node["name"]) and old["name"] != node["name"]):
            now[identity] = "added"
        elif _look(old) != _look(node):
            now[identity], was[identity] = "changed", "matched"
    for identity in before.nodes:
        if identity not in after.nodes or now.get(identity) == "added":
            was[identity] = "removed"
    return was, now


@dataclass(slots=True)
class _Drawn:
    title: str
    boxes: list[Box]
    edges: list[tuple[str, str]]


def _side(
    graph: _Graph, marks: Mapping[str, Mark], title: str, *, weights_of: _Graph | None, sign: Mark
) -> _Drawn:
    document = graph.document
    read = {edge[0] for edge in document["edges"]}
    written = {edge[1] for edge in document["edges"]}
    boxes = [Box(p["id"], p["name"], p["shape"]) for p in document["inputs"] if p["id"] in read]
    named = _bodies(graph.model)
    boxes += [_node(n, marks.get(_identity(n), ""), named) for n in document["nodes"]]
    boxes += [
        Box(p["id"], p["name"], p["shape"]) for p in document["outputs"] if p["id"] in written
    ]
    edges = [(edge[0], edge[1]) for edge in document["edges"]]
    if weights_of is not None:
        pills, wires = _weights(graph, weights_of, sign)
        boxes, edges = [*pills, *boxes], [*wires, *edges]
    return _Drawn(title, boxes, edges)


def _bodies(model: ir.Model) -> dict[str, str]:
    """What bodies are called, by their ids."""
    return {
        graph_id(attribute.as_graph()): name.replace("_", " ")
        for node in walk_nodes(model.graph)
        for name, attribute in node.attributes.items()
        if attribute.type == ir.AttributeType.GRAPH
    }


def _node(node: Mapping[str, Any], mark: Mark, bodies: Mapping[str, str]) -> Box:
    row = "  ".join(node.get("rows", []))
    body = bodies.get(node.get("body", ""), "")
    return Box(node["id"], node["op"], node.get("brief", ""), row, node["cat"], mark, body)


def _weights(graph: _Graph, other: _Graph, sign: Mark) -> tuple[list[Box], list[tuple[str, str]]]:
    """Weights as pills, where a rewrite touches nothing else."""
    here, there = graph.model.graph.initializers, other.model.graph.initializers
    pills: list[Box] = []
    wires: list[tuple[str, str]] = []
    for name, value in here.items():
        shape = "×".join(map(str, value.shape or ()))
        pills.append(Box(f"w:{name}", name, shape, mark="" if name in there else sign))
        readers = [n["id"] for n in graph.document["nodes"] if any(p[1] == name for p in n["in"])]
        wires += [(f"w:{name}", reader) for reader in readers]
    return pills, wires


def _told(side: _Drawn) -> str:
    return ", ".join(box.text for box in side.boxes if box.category) or "no nodes"
