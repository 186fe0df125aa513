"""The primitive, invertible changes every rewrite is made of.

An edit names nodes and values by id, so that it means the same on every copy of the source graph
and can be written to a file. `GraphState` finds the objects behind the ids, applies and reverts
(`graph_state`).
"""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir


@dataclass(frozen=True, slots=True)
class ValueSpec:
    """A value to create: id, ONNX name, and what is known of its type."""

    id: str
    name: str
    type: ir.TypeProtocol | None
    shape: ir.Shape | None


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """A node to create; inputs are value ids, None where an optional input is missing."""

    id: str
    domain: str
    op_type: str
    name: str
    inputs: tuple[str | None, ...]
    outputs: tuple[ValueSpec, ...]
    attributes: tuple[ir.Attr, ...]


@dataclass(frozen=True, slots=True)
class InsertNode:
    """Put a new node into a graph, right before the live node `before`."""

    graph: str
    node: NodeSpec
    before: str


@dataclass(frozen=True, slots=True)
class RemoveNode:
    """Take a node out, and with it the nodes `inner` of its bodies.

    `before` is the live node that followed it, None at the end of the list.
    """

    graph: str
    node: str
    before: str | None
    inputs: tuple[str | None, ...]
    inner: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SetInput:
    """Let input `index` of a node read another value."""

    node: str
    index: int
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class SetGraphOutput:
    """Let graph output `index` be another value."""

    graph: str
    index: int
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class AddInitializer:
    """Add a constant to a graph."""

    graph: str
    value: str
    name: str
    tensor: ir.TensorProtocol


@dataclass(frozen=True, slots=True)
class DropInitializer:
    """Remove an unused constant from a graph."""

    graph: str
    value: str
    name: str


@dataclass(frozen=True, slots=True)
class Rename:
    """Change the ONNX name of a value."""

    value: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Retype:
    """Write down what has become known about a value's type and shape."""

    value: str
    old: tuple[ir.TypeProtocol | None, ir.Shape | None]
    new: tuple[ir.TypeProtocol | None, ir.Shape | None]


@dataclass(frozen=True, slots=True)
class SetAttributes:
    """Change the attributes of a node that stays."""

    node: str
    old: tuple[ir.Attr, ...]
    new: tuple[ir.Attr, ...]


@dataclass(frozen=True, slots=True)
class ImportOpset:
    """Declare an operator set, or another version of it; `old` is None where there was none."""

    domain: str
    version: int
    old: int | None = None


Edit = (
    InsertNode
    | RemoveNode
    | SetInput
    | SetGraphOutput
    | AddInitializer
    | DropInitializer
    | Rename
    | Retype
    | SetAttributes
    | ImportOpset
)
