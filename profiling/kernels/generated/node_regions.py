"""In which generated kernel the work of each node of a source ends, or why in none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import onnx_ir as ir

from optimizer.cost.sizes import Sizes
from optimizer.errors import quoted
from optimizer.fusion.left_alone import why_left
from optimizer.model.graph import node_id, walk_nodes
from optimizer.model.symbolic import SymbolicValues
from optimizer.operators.call import Known
from optimizer.operators.generated import GENERATED
from optimizer.rewrite.edits import InsertNode
from optimizer.rewrite.provenance import Fate, Provenance
from optimizer.rewrite.replay import Cursor

PASS = "generate-kernels"  # noqa: S105 no password
_IN_A_BODY = "it is in the body of another node, and kernels are made of the graph itself"
_GONE: Mapping[str, str] = {
    "folded": "it is computed once, while the network is optimized, and only its result is left",
    "bypassed": "the passes before take it out",
    "dead": "nothing needs its result",
}


@dataclass(frozen=True)
class NodeRegions:
    """Nodes of a source and the kernels of its network, by the nodes' ids.

    Attributes:
        kernels: name of the function that does a node's work; the first of several.
        left: a sentence for each other one.
        named: ids of the nodes of each name.
    """

    kernels: Mapping[str, str] = field(default_factory=dict[str, str])
    left: Mapping[str, str] = field(default_factory=dict[str, str])
    named: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def kernel_of(self, nodes: Sequence[str]) -> str:
        """The first kernel that does the work of any of these; empty where none does."""
        return next((self.kernels[one] for one in nodes if one in self.kernels), "")

    def why_none(self, nodes: Sequence[str]) -> str:
        """Why these nodes are in no region, one sentence."""
        told = (self.left[one] for one in nodes if one in self.left)
        return next(told, "The open model has no such node.")


def node_regions(cursor: Cursor) -> NodeRegions:
    """What becomes of each node of the source; the cursor is at the end afterwards.

    Args:
        cursor: over a run of the preset `generated`.
    """
    source = [(node_id(n), n.op_type, n.name or "") for n in walk_nodes(cursor.seek(0).graph)]
    named: dict[str, tuple[str, ...]] = {}
    for identity, _, name in source:
        named[name] = (*named.get(name, ()), identity)
    end = _End(cursor)
    kernels, left = dict[str, str](), dict[str, str]()
    for identity, operator, name in source:
        fate = end.provenance.fate(identity)
        kernel = end.kernel(identity, fate)
        if kernel:
            kernels[identity] = kernel
        else:
            about = f"{operator} {quoted(name)}" if name else operator
            why = end.reason(identity, fate)
            left[identity] = f"{about} is in no region that becomes a kernel: {why}."
    return NodeRegions(kernels, left, named)


class _End:
    """The end of a trace."""

    def __init__(self, cursor: Cursor) -> None:
        trace = cursor.trace
        self._model = cursor.seek(trace.steps)
        self.provenance = Provenance(trace)
        self._calls = {
            edit.id: edit.op_type
            for rewrite in trace.rewrites
            for edit in rewrite.edits
            if isinstance(edit, InsertNode) and edit.domain == GENERATED
        }
        self._declined = {one.root: one.reason for one in trace.declined if one.pass_id == PASS}
        self._nodes = {node_id(node): node for node in walk_nodes(self._model.graph)}

    def kernel(self, identity: str, fate: Fate) -> str:
        """That does the work of a node; empty where none does."""
        return next((self._calls[one] for one in _ends(identity, fate) if one in self._calls), "")

    def reason(self, identity: str, fate: Fate) -> str:
        """Why none does, a clause."""
        ends = [self._nodes[one] for one in _ends(identity, fate) if one in self._nodes]
        told = (self._declined[node_id(one)] for one in ends if node_id(one) in self._declined)
        declined = next(told, "")
        if declined:
            return _clause(declined)
        if not ends:
            return _GONE.get(fate.kind, _GONE["dead"])
        node = ends[0]
        return _IN_A_BODY if node.graph is not self._model.graph else self._why(node)

    def _why(self, node: ir.Node) -> str:
        return why_left(node, self._known, self._sizes)

    @cached_property
    def _known(self) -> Known:
        return SymbolicValues(self._model).fact

    @cached_property
    def _sizes(self) -> Sizes:
        return Sizes.of(self._model.graph)


def _ends(identity: str, fate: Fate) -> tuple[str, ...]:
    """The nodes that do the work of a node at the end."""
    return (identity, *fate.into) if fate.kind == "kept" else fate.into


def _clause(sentence: str) -> str:
    """A reason behind a colon; names in capitals stay."""
    text = sentence.rstrip(".")
    return text if text[:2].isupper() else f"{text[:1].lower()}{text[1:]}"
