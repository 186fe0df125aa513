"""Groups from name scopes: `/encoder/attention/MatMul` lies in `/encoder/attention`.

Exporters write scopes into node names, or (torch's dynamo exporter) into node metadata. Bodies of
control flow are groups too. Groups found by other means join by the same list. What has no scope
and reads only constants (the Identity of a shared weight) belongs with its readers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import onnx_ir as ir

from optimizer.model.graph import bodies, graph_id, node_id
from optimizer.model.scopes import scope_path
from studio.graphview.records import port_source
from studio.graphview.text import cut

MAX_DEPTH = 12


class Groups:
    """The group tree; index 0 is the root."""

    def __init__(self, owners: dict[str, ir.Node]) -> None:
        self.entries: list[dict[str, Any]] = [{"id": "", "name": "", "parent": -1}]
        self._index = {"": 0}
        self._owners = owners
        self._known: dict[str, int] = {}

    def of(self, node: ir.Node) -> int:
        """The index of the innermost group of a node; made on first use and kept from then on."""
        known = self._known.get(node_id(node))
        if known is None:
            scopes = scope_path(node) or (readers_scope(node) if is_source(node) else ())
            known = self._known[node_id(node)] = self._at(self._body_of(node), scopes)
        return known

    def _body_of(self, node: ir.Node) -> int:
        graph = node.graph
        owner = self._owners.get(graph_id(graph)) if isinstance(graph, ir.Graph) else None
        if owner is None or not isinstance(graph, ir.Graph):
            return 0
        around = self.of(owner)
        name = f"{owner.op_type} {graph.name or 'body'}"
        return self._child(around, cut(name, 60), f"#{graph_id(graph)}")

    def _at(self, base: int, parts: Sequence[str]) -> int:
        current = base
        inherited = self.entries[base]["id"].partition("#")[0].strip("/").split("/")
        if base and list(parts[: len(inherited)]) == inherited:
            parts = parts[len(inherited) :]  # a body repeats the scope of its owner
        for part in parts[:MAX_DEPTH]:
            current = self._child(current, cut(part, 60), part)
        return current

    def _child(self, parent: int, name: str, key: str) -> int:
        identity = f"{self.entries[parent]['id']}/{key}"
        index = self._index.get(identity)
        if index is None:
            index = self._index[identity] = len(self.entries)
            self.entries.append({"id": identity, "name": name, "parent": parent})
        return index


def is_source(node: ir.Node) -> bool:
    """Whether a node reads constants alone, and no bodies: nothing flows into it."""
    reads = any(port_source(value) is not None for value in node.inputs)
    return not reads and not any(True for _ in bodies(node))


def readers_scope(node: ir.Node) -> Sequence[str]:
    """The scopes that all readers of a node share, outermost first."""
    readers = [use.node for output in node.outputs for use in output.uses()]
    if not readers or any(reader.graph is not node.graph for reader in readers):
        return ()
    shared = zip(*(scope_path(reader) for reader in readers), strict=False)
    return [parts[0] for parts in takewhile(lambda parts: len(set(parts)) == 1, shared)]
