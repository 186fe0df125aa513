"""A whole trace as `passlens.steps/1`: every step as a small patch over the source graph.

The trace is replayed once; what a step changes is read off the graph before and after it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import onnx_ir as ir

from optimizer.constants import is_constant_node
from optimizer.model.graph import bodies, graph_id, node_id, walk_nodes
from optimizer.registry import is_imported
from optimizer.rewrite.edits import (
    DropInitializer,
    InsertNode,
    MoveNode,
    RemoveNode,
    Retype,
    SetAttributes,
    SetGraphOutput,
    SetInput,
)
from optimizer.rewrite.graph_state import GraphState
from optimizer.rewrite.provenance import made_from, successions
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace import DeclinedMatch, FailedMatch, Rewrite
from studio.graphview.catalogue import pass_records
from studio.graphview.groups import Groups
from studio.graphview.records import Edge, Record, drawn, into_node, into_outputs, record
from studio.graphview.step_costs import StepCosts
from studio.graphview.text import cut, dims_text, dtype_name

SCHEMA = "passlens.steps/1"
OrderKey = tuple[float, ...]
_LAST = float("inf")
_ALWAYS = ("matched", "removed", "added")
"""Lists that are there even when empty."""
MOST_LISTED = 4
"""Weights of a step that are named."""
Weight = tuple[str, str, str, int]
"""Name, element type, shape, bytes."""


def steps_json(cursor: Cursor, *, key: str, graph_key: str, groups: Groups) -> dict[str, Any]:
    """Every step of the trace; the cursor must stand at step 0 and ends at the last."""
    return _Steps(cursor, groups).run(key, graph_key)


class _Steps:
    def __init__(self, cursor: Cursor, groups: Groups) -> None:
        self.cursor, self.groups = cursor, groups
        self.trace = cursor.trace
        self.state = cursor.state
        self.graph = cursor.model.graph
        self.costs = StepCosts(cursor.state)
        self.passes = pass_records(self.trace)
        self.index = {entry["id"]: i for i, entry in enumerate(self.passes)}
        self.order: dict[str, OrderKey] = {
            identity: (float(i), _LAST) for i, identity in enumerate(self.state.nodes)
        }
        self.inserted: dict[str, int] = {}
        self.group: dict[str, int] = {}
        self.nodes: list[Record] = []
        self.steps: list[dict[str, Any]] = []

    def run(self, key: str, graph_key: str) -> dict[str, Any]:
        """All steps, then the totals."""
        first = self._totals()
        for rewrite in self.trace.rewrites:
            self.steps.append(self._step(rewrite))
        last = self._totals()
        return {
            "schema": SCHEMA,
            "key": key,
            "graph": graph_key,
            "passes": self.passes,
            "nodes": self.nodes,
            "steps": self.steps,
            "declined": [*map(self._near_miss, self.trace.declined), *self._failed()],
            "vetoed": [
                {
                    "match": v.match,
                    "veto": v.veto,
                    "pass": self.index[v.pass_id],
                    "rule": v.rule,
                    "root": v.root,
                    "matched": list(v.matched),
                }
                for v in self.trace.vetoed
            ],
            "totals": {name: [first[name], last[name]] for name in first},
            "stopped": self.trace.stopped,
            "seconds": self.trace.seconds,
        }

    def _near_miss(self, declined: DeclinedMatch) -> dict[str, Any]:
        entry = {
            "pass": self.index[declined.pass_id],
            "rule": declined.rule,
            "node": declined.root,
            "nodes": list(declined.nodes),
            "reason": declined.condition,
            "detail": declined.detail,
            "round": declined.round,
        }
        return {**entry, "unlock": declined.unlock} if declined.unlock else entry

    def _failed(self) -> list[dict[str, Any]]:
        return [
            {
                "pass": self.index[f.pass_id],
                "rule": f.rule,
                "node": f.root,
                "nodes": list(f.matched),
                "reason": _failed_reason(f),
                "detail": f.error,
                "failed": True,
            }
            for f in self.trace.failed
        ]

    def _totals(self) -> dict[str, int]:
        live = list(walk_nodes(self.graph))
        nodes = sum(not is_constant_node(n) for n in live)
        cost = self.costs.total()
        return {"nodes": nodes, "flops": cost.flops, "bytes": cost.bytes_moved}

    def _step(self, rewrite: Rewrite) -> dict[str, Any]:
        touched = self._touched(rewrite)
        leaving = [self.state.nodes[i] for i in rewrite.removed]
        group = self._group(self.state.nodes[rewrite.root])
        matched = [i for i in rewrite.matched if drawn(self.state.nodes[i])]
        removed = [node_id(n) for n in leaving if drawn(n)]
        before = self._edges([*leaving, *touched.values()])
        weights = _dropped_weights(self.state, rewrite)
        self.cursor.seek(rewrite.step)
        made = [self.state.nodes[i] for i in rewrite.added]
        added = [node for node in _inner_first(made) if drawn(node)]
        hidden = {node_id(node) for node in made} - {node_id(node) for node in added}
        after = self._edges([*added, *touched.values()])
        flops, moved = self.costs.after(rewrite)
        self._place(rewrite)
        self._add_records(rewrite, added, group=group, removed=removed, edges=after)
        updated = {
            identity: self._record(node, self._group(node))
            for identity, node in touched.items()
            if node.graph is not None
        }
        shown = {*matched, *removed}  # Constants are not, and only told where they went
        entry: dict[str, Any] = {
            "n": rewrite.step,
            "round": rewrite.round,
            "pass": self.index[rewrite.pass_id],
            "rule": rewrite.rule,
            "match": rewrite.match,
            "root": rewrite.root,
            "matched": matched,
            "removed": removed,
            "added": [node_id(n) for n in added],
            "changed": {i: updated[i] for i in _attribute_changes(rewrite) if i in updated},
            "updated": updated,
            "edges_removed": [e for e in before if e not in after],
            "edges_added": [e for e in after if e not in before],
            "why": rewrite.reason,
            "from": {
                node: [i for i in ids if i in shown]
                for node, ids in made_from(rewrite).items()
                if node not in hidden
            },
            "became": [
                [e.kind, list(e.nodes), [i for i in e.into if i not in hidden]]
                for e in successions(rewrite)
            ],
            "delta": {
                "nodes": len(added) - sum(not is_constant_node(n) for n in leaving),
                "flops": flops,
                "bytes": moved,
            },
            "us": round(rewrite.seconds * 1e6),
            "depends": list(rewrite.depends_on),
            "weights": weights or {},
            "confidence": _confidence(rewrite),
        }
        return {k: v for k, v in entry.items() if k in _ALWAYS or v not in ({}, [])}

    def _touched(self, rewrite: Rewrite) -> dict[str, ir.Node]:
        """Nodes that stay but read or write something else afterwards."""
        gone = set(rewrite.removed)
        found: dict[str, ir.Node] = {}
        for edit in rewrite.edits:
            match edit:
                case SetInput() | SetAttributes():
                    identity = edit.node
                case Retype():
                    identity = edit.value.partition(":")[0]
                case SetGraphOutput():
                    owner = self.state.owners.get(edit.graph)
                    identity = node_id(owner) if owner is not None else ""
                case _:
                    continue
            if identity in self.state.nodes and identity not in gone:
                node = self.state.nodes[identity]
                if drawn(node):
                    found[identity] = node
        return found

    def _edges(self, nodes: Iterable[ir.Node]) -> dict[Edge, None]:
        edges = [edge for node in nodes if node.graph is not None for edge in into_node(node)]
        return dict.fromkeys([*edges, *into_outputs(self.graph)])

    def _group(self, node: ir.Node) -> int:
        """A new node belongs where its root was, whatever its name says."""
        known = self.group.get(node_id(node))
        return self.groups.of(node) if known is None else known

    def _record(self, node: ir.Node, group: int) -> Record:
        opset = self.graph.opset_imports.get(node.domain, 1)
        return record(node, group=group, opset=opset)

    def _place(self, rewrite: Rewrite) -> None:
        """Order keys of nodes put right before their root, after earlier ones put there.

        What a new body holds comes where its owner does.
        """
        for edit in rewrite.edits:
            if isinstance(edit, InsertNode | MoveNode):
                identity = edit.id if isinstance(edit, InsertNode) else edit.node
                before = edit.before or node_id(self.state.owners[edit.graph])
                number = self.inserted[before] = self.inserted.get(before, 0) + 1
                self.order[identity] = (*self.order[before][:-1], float(number), _LAST)

    def _add_records(
        self,
        rewrite: Rewrite,
        added: list[ir.Node],
        *,
        group: int,
        removed: list[str],
        edges: Iterable[Edge],
    ) -> None:
        """Records of new nodes, each in the slot of a node it replaces where the order allows."""
        free = [i for i in removed if i != rewrite.root or rewrite.inferred is not None]
        if any(isinstance(edit, RemoveNode) and edit.inner for edit in rewrite.edits):
            free = []  # what bodies held stands elsewhere than what takes its place
        heirs = {value.partition(":")[0] for value in rewrite.values.values()}
        homes, own_slots = _homes(rewrite), self._own_slots(rewrite, free)
        free = [slot for slot in free if slot not in own_slots.values()]
        left = {edit.node: edit.graph for edit in rewrite.edits if isinstance(edit, RemoveNode)}
        for node in added:
            identity = node_id(node)
            home, here = homes.get(identity, ()), node.graph
            here_id = graph_id(here) if isinstance(here, ir.Graph) else ""
            stays = [slot for slot in free if left.get(slot, here_id) == here_id]
            if home and left.get(home[0], here_id) == here_id:
                own = self._group(self.state.nodes[home[0]])  # of many places: each to its own
                self.group[identity] = own
                entry = self._record(node, own)
                self.nodes.append(entry | {"near": home[0], "slot": own_slots.get(identity)})
                continue
            self.group[identity] = group
            entry = self._record(node, group)
            entry["near"] = rewrite.root
            if identity in heirs and rewrite.root in removed:
                entry["slot"] = rewrite.root
                heirs.clear()
            else:
                slot = self._slot(identity, stays, edges)
                if slot is not None:
                    free.remove(slot)
                entry["slot"] = slot
            self.nodes.append(entry)

    def _own_slots(self, rewrite: Rewrite, free: list[str]) -> dict[str, str]:
        """New nodes of a place, and what they stand for: the last ones, as others come before."""
        found: dict[str, str] = {}
        for place in () if rewrite.inferred is None else rewrite.inferred.places:
            slots = sorted(
                (one for one in place.sources if one in free), key=self.order.__getitem__
            )
            found.update(zip(reversed(place.added), reversed(slots), strict=False))
        return found

    def _slot(self, identity: str, free: list[str], edges: Iterable[Edge]) -> str | None:
        """A removed node whose place in the order lies between producers and consumers."""
        low = max(
            (self.order[a] for a, b, *_ in edges if b == identity and a in self.order),
            default=(-1.0,),
        )
        for candidate in free:
            if self.order[candidate] > low:
                return candidate
        return None


def _confidence(rewrite: Rewrite) -> float | list[float]:
    """How sure it is which node does the work of which; empty where a pass of ours says it."""
    told = None if not is_imported(rewrite.pass_id) else rewrite.inferred
    return [] if told is None else told.confidence


def _inner_first(made: list[ir.Node]) -> list[ir.Node]:
    """New nodes, what a new body holds before the node that carries it."""
    new, found = set(made), dict[ir.Node, None]()

    def put(node: ir.Node) -> None:
        for inner in (inner for body in bodies(node) for inner in body):
            put(inner)
        if node in new:
            found[node] = None

    for node in made:
        put(node)
    return list(found)


def _homes(rewrite: Rewrite) -> dict[str, tuple[str, ...]]:
    """For new nodes of a foreign tool's step, the nodes whose work they do."""
    places = () if rewrite.inferred is None else rewrite.inferred.places
    return {node: place.sources for place in places for node in place.added if place.sources}


def _failed_reason(failed: FailedMatch) -> str:
    if is_imported(failed.pass_id):
        return f"Failed at {failed.rule}: its step was not taken"
    return f"Bug of the rule {failed.rule}: it raised an error and was asked no more"


def _attribute_changes(rewrite: Rewrite) -> list[str]:
    return [edit.node for edit in rewrite.edits if isinstance(edit, SetAttributes)]


def _dropped_weights(state: GraphState, rewrite: Rewrite) -> dict[str, Any] | None:
    """The weights that a step drops, and the one that takes their place; None where nodes change.

    Args:
        state: of the graph, which stands before the rewrite.
        rewrite: the step.
    """
    edits = [edit for edit in rewrite.edits if isinstance(edit, DropInitializer)]
    if not edits or rewrite.added or rewrite.removed:
        return None
    dropped = [_weight(state.value(edit.value)) for edit in edits]
    kept = [_weight(state.value(new)) for new in rewrite.values.values()]
    return {
        "count": len(dropped),
        "bytes": sum(weight[3] for weight in dropped),
        "dropped": dropped[:MOST_LISTED],
        "kept": kept[0] if kept else None,
    }


def _weight(value: ir.Value | None) -> Weight:
    tensor = value.const_value if value is not None else None
    if value is None or tensor is None:
        return ("", "", "", 0)
    return (cut(value.name or ""), dtype_name(tensor.dtype), dims_text(tensor.shape), tensor.nbytes)
