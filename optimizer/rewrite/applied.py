"""What one rewrite did to a graph."""

from __future__ import annotations

from dataclasses import dataclass, field

import onnx_ir as ir

from optimizer.rewrite.edits import Edit
from optimizer.rules.replacement import NewNode


@dataclass(slots=True)
class Applied:
    """What one rewrite did, as objects, for the driver's worklist.

    Attributes:
        edits: the primitive changes, in order.
        values: old value id -> id of the value that took its place.
        added: new nodes.
        removed: nodes that are gone.
        changed: values that have new consumers, fewer consumers, or a better known type.
        identities: ids of the new nodes.
    """

    edits: list[Edit] = field(default_factory=list[Edit])
    values: dict[str, str] = field(default_factory=dict[str, str])
    added: list[ir.Node] = field(default_factory=list[ir.Node])
    removed: list[ir.Node] = field(default_factory=list[ir.Node])
    changed: dict[ir.Value, None] = field(default_factory=dict[ir.Value, None])
    identities: dict[NewNode, str] = field(default_factory=dict[NewNode, str])

    def include(self, other: Applied) -> None:
        """What another replacement did, as part of the same rewrite."""
        self.edits += other.edits
        self.values |= other.values
        self.added += other.added
        self.removed += other.removed
        self.changed |= other.changed
        self.identities |= other.identities
