"""A graph, folded as the viewer shows it, in Graphviz' language.

Ids are ours (`b0`, `b1`, …) and labels are escaped here and nowhere else: a model's text never
reaches `dot` raw.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

import graphviz

from optimizer.numbers import counted
from studio.graphview.text import cut

MOST_BOXES = 150
"""Groups are opened from the outside in while no more boxes than this would show."""

MOST_DRAWN = 1500
"""More boxes than this are not drawn: `dot` would not finish."""

LABEL_CHARACTERS = 60

_FILLS = {
    "conv": "#dbe7f8",
    "norm": "#d6eeec",
    "act": "#fbe1d8",
    "pool": "#eaedd2",
    "shape": "#e6e8ec",
    "elem": "#f5ead3",
    "attn": "#e7dcf5",
    "control": "#f8dcea",
    "quant": "#ecdfd3",
    "io": "#ffffff",
    "unknown": "#f3f4f7",
}


def dot_text(graph: dict[str, Any], *, open_groups: Collection[str] | None = None) -> str:
    """The DOT source of a `passlens.graph/1` document.

    Args:
        graph: the document.
        open_groups: ids of the groups drawn open; by default as many as fit `MOST_BOXES`.
    """
    return _Drawing(graph, open_groups).source()


def box_count(graph: dict[str, Any], *, open_groups: Collection[str] | None = None) -> int:
    """How many boxes `dot_text` would draw."""
    return len(_Drawing(graph, open_groups).boxes())


def label(text: str) -> str:
    """Any text as a harmless label: control characters out, cut, escaped."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    return graphviz.escape(cut(clean, LABEL_CHARACTERS))


class _Drawing:
    def __init__(self, graph: dict[str, Any], open_groups: Collection[str] | None) -> None:
        self.graph = graph
        self.groups: list[dict[str, Any]] = graph["groups"]
        self.children: dict[int, list[int]] = {}
        for index, group in enumerate(self.groups[1:], start=1):
            self.children.setdefault(group["parent"], []).append(index)
        self.leaves = Counter(node["g"] for node in graph["nodes"])
        self.open = self._opened(open_groups)
        self.names: dict[tuple[str, Any], str] = {}

    def _opened(self, chosen: Collection[str] | None) -> set[int]:
        """Open groups: those named; or, with "+id" and "-id", the first folding so changed."""
        if chosen is None:
            return self._first_folding()
        changes = [text for text in chosen if text[:1] in "+-" and text]
        plain = {text for text in chosen if text not in changes}
        wanted = {i for i, group in enumerate(self.groups) if group["id"] in plain}
        if changes:
            wanted |= self._first_folding()
            places = {group["id"]: i for i, group in enumerate(self.groups)}
            for text in changes:
                place = places.get(text[1:])
                if place is not None:
                    (wanted.add if text[0] == "+" else wanted.discard)(place)
        return {0} | {i for i in wanted if all(p in wanted or p == 0 for p in self._above(i))}

    def _first_folding(self) -> set[int]:
        opened, shown = {0}, self._inside(0)
        front = sorted(self.children.get(0, ()), key=self._inside)
        while front:
            group = front.pop(0)
            if shown - 1 + self._inside(group) > MOST_BOXES:
                break
            opened.add(group)
            shown += self._inside(group) - 1
            front = sorted([*front, *self.children.get(group, ())], key=self._inside)
        return opened

    def _above(self, group: int) -> Iterator[int]:
        while group > 0:
            group = self.groups[group]["parent"]
            yield group

    def _inside(self, group: int) -> int:
        return self.leaves[group] + len(self.children.get(group, ()))

    def _shown(self, node: dict[str, Any]) -> tuple[str, Any]:
        """The box that stands for a node: itself, or its outermost closed group."""
        box: tuple[str, Any] = ("node", node["id"])
        for group in [node["g"], *self._above(node["g"])]:
            if group not in self.open:
                box = ("group", group)
        return box

    def boxes(self) -> set[tuple[str, Any]]:
        """Everything that is drawn as a box."""
        return {self._shown(node) for node in self.graph["nodes"]}

    def source(self) -> str:
        """The DOT text."""
        drawing = graphviz.Digraph("model")
        drawing.attr(rankdir="TB", nodesep="0.25", ranksep="0.35", fontname="Helvetica")
        drawing.attr(
            "node",
            shape="box",
            style="rounded,filled",
            fontname="Helvetica",
            fontsize="11",
            color="#8b93a3",
            height="0.3",
        )
        drawing.attr("edge", color="#6c7686", arrowsize="0.6")
        for port in [*self.graph["inputs"], *self.graph["outputs"]]:
            text = label(f"{port['name']}\n{port['dtype']} {port['shape']}".replace("\n", "  "))
            drawing.node(self._name(("node", port["id"])), text, fillcolor=_FILLS["io"])
        self._fill(drawing, 0)
        for start, end in self._edges():
            drawing.edge(start, end)
        return drawing.source

    def _fill(self, drawing: graphviz.Digraph, group: int) -> None:
        for node in self.graph["nodes"]:
            if node["g"] == group:
                text = label(" ".join(filter(None, [node["op"], node.get("brief")])))
                fill = _FILLS.get(node["cat"], _FILLS["unknown"])
                drawing.node(self._name(("node", node["id"])), text, fillcolor=fill)
        for child in self.children.get(group, ()):
            name = label(self.groups[child]["name"])
            if child in self.open:
                cluster = graphviz.Digraph(f"cluster_{child}")
                cluster.attr(label=name, color="#d8dde8", fontcolor="#6c7686", fontsize="10")
                self._fill(cluster, child)
                drawing.subgraph(cluster)
            elif total := self._total(child):
                text = f"{name}\\n{counted(total, 'node')}"
                drawing.node(
                    self._name(("group", child)), text, fillcolor="#f1f3f8", peripheries="2"
                )

    def _total(self, group: int) -> int:
        inner = sum(self._total(child) for child in self.children.get(group, ()))
        return inner + self.leaves[group]

    def _edges(self) -> list[tuple[str, str]]:
        shown = {node["id"]: self._shown(node) for node in self.graph["nodes"]}
        found: dict[tuple[str, str], None] = {}
        for start, end, *_ in self.graph["edges"]:
            a, b = shown.get(start, ("node", start)), shown.get(end, ("node", end))
            if a != b:
                found[self._name(a), self._name(b)] = None
        return list(found)

    def _name(self, box: tuple[str, Any]) -> str:
        return self.names.setdefault(box, f"b{len(self.names)}")
