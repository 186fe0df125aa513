"""What a rule answers about one node: nothing, a near miss, or a replacement.

All three are plain data. A rule never touches the graph; new nodes and initializers exist only on
paper until the `Rewriter` puts them in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import cast

import numpy as np
import onnx_ir as ir
from numpy.typing import ArrayLike, DTypeLike

from optimizer.frozen import frozen


@frozen(eq=False)
class NewInitializer:
    """A constant to add to the graph.

    Attributes:
        tensor: the data.
        hint: a readable base for its name; made unique by the Rewriter.
    """

    tensor: ir.TensorProtocol
    hint: str

    @staticmethod
    def of(data: ArrayLike, hint: str, dtype: DTypeLike | None = None) -> NewInitializer:
        """A constant of this data, in the type numpy gives it unless told otherwise."""
        return NewInitializer(ir.Tensor(np.asarray(data, dtype, order="C")), hint)

    @staticmethod
    def ints(numbers: Sequence[int], hint: str) -> NewInitializer:
        """A list of int64: sizes, axes, places."""
        return NewInitializer.of(numbers, hint, np.int64)


@frozen(eq=False)
class NewOutput:
    """Output `index` of a node that is to be added."""

    node: NewNode
    index: int


@frozen(eq=False)
class NewNode:
    """A node to add.

    Attributes:
        op_type: operator name.
        inputs: values of the graph, outputs of other new nodes, new initializers, or None for a
            missing optional input.
        attributes: plain Python values or ready attributes; None values are left out.
        domain: "" is ONNX's own.
        outputs: how many.
        name: wanted node name; by default taken from the matched node with the same operator.
        twin: a node that computes the same: names, types and shapes are as its own.
        retyped: element types of outputs that are not the twin's, by index.
        bodies: graphs that it carries, by attribute.
    """

    op_type: str
    inputs: Sequence[Operand | None]
    attributes: Mapping[str, object] = field(default_factory=dict[str, object])
    domain: str = ""
    outputs: int = 1
    name: str | None = None
    twin: ir.Node | None = None
    retyped: Mapping[int, ir.DataType] = field(default_factory=dict[int, ir.DataType])
    bodies: Mapping[str, NewBody] = field(default_factory=dict[str, "NewBody"])

    def output(self, index: int = 0) -> NewOutput:
        """The handle by which other new nodes and `Replacement.values` refer to an output."""
        return NewOutput(self, index)

    def reads(self) -> Iterator[Operand | None]:
        """Its inputs, and what its bodies read from outside."""
        yield from self.inputs
        for body in self.bodies.values():
            yield from body.captured()


Operand = ir.Value | NewOutput | NewInitializer


@frozen(eq=False)
class NewBody:
    """A graph that a new node carries.

    Attributes:
        name: of the graph; values and nodes in it get names of their own.
        inputs: values that its inputs are like; where its nodes read one of these, they read the
            input.
        initializers: constants that stand in the body; all others stand in the graph around.
        nodes: producers before consumers.
        outputs: made by its nodes, or inputs or initializers of its own.
    """

    name: str | None
    inputs: Sequence[ir.Value]
    initializers: Sequence[NewInitializer]
    nodes: Sequence[NewNode]
    outputs: Sequence[Operand]

    def captured(self) -> Iterator[Operand | None]:
        """What its nodes read of the graphs around it."""
        own = {*self.inputs, *self.initializers}
        made = {*self.nodes}
        for operand in (operand for node in self.nodes for operand in node.reads()):
            inside = isinstance(operand, NewOutput) and operand.node in made
            if not inside and operand not in own:
                yield operand


@frozen()
class Place:
    """Where a foreign tool changed a graph, as far as names and structure tell.

    Attributes:
        sources: nodes whose work the new ones do: those that left, or what they stand beside.
        nodes: new ones; none where readers just take something else.
    """

    sources: tuple[ir.Node, ...]
    nodes: tuple[NewNode, ...]


@frozen()
class Inference:
    """What was inferred of a change that gave no events.

    Attributes:
        places: each with its own nodes.
        confidence: 0 to 1; how far they tell which node does the work of which.
    """

    places: tuple[Place, ...]
    confidence: float


@frozen()
class Replacement:
    """One change to the graph, as a rule proposes it.

    Matched nodes, and constants that only they used, go away by themselves once nothing uses
    their outputs any more; a matched node that is still needed stays.

    Attributes:
        matched: the nodes of the pattern; the root is the one the rule was asked about.
        values: old output value -> what takes its place.
        reason: one sentence: why this is valid here.
        nodes: new nodes, producers before consumers.
        attributes: attributes to set (None removes) on nodes that stay.
        inputs: single inputs to replace on nodes that stay, by (node, index).
        drop: initializers to remove; they must be unused.
        fixed: graph inputs with a default that are constants from here on: no caller gives them.
        opsets: operator sets to use in another version, by domain; every node that stays must mean
            the same in it.
        types: element types of the graph's inputs and outputs that change.
        delays: whether nodes that stand before the root, but need a replaced value, directly or
            not, are put behind the new nodes; without it they are a reason to refuse.
        functions: functions of the model that new nodes call; those that it has are left as they
            are.
        unused: functions of the model that nothing calls once this is in place; they go.
        stands: nodes of the root's graph that new nodes stand right before, where that is not the
            root; no new node stands before one that is listed earlier.
        order: all nodes that the graph has afterwards, as they stand then; new nodes stand where it
            says.
        accept: asked once all is in place; what it raises takes everything back.
        parts: further replacements that belong to the same step, each with its root, in any graph
            of the model; they are carried out afterwards, one after the other: a part that reads
            what another one replaces comes before it.
        inferred: which new nodes do the work of which old ones, where a foreign tool, or a new
            operator set, changed many places at once; without it all new ones do the work of all
            matched ones.
    """

    matched: Sequence[ir.Node]
    values: Mapping[ir.Value, Operand]
    reason: str
    nodes: Sequence[NewNode] = ()
    attributes: Mapping[ir.Node, Mapping[str, object]] = field(
        default_factory=dict[ir.Node, Mapping[str, object]]
    )
    inputs: Mapping[tuple[ir.Node, int], Operand | None] = field(
        default_factory=dict[tuple[ir.Node, int], "Operand | None"]
    )
    drop: Sequence[ir.Value] = ()
    fixed: Sequence[ir.Value] = ()
    opsets: Mapping[str, int] = field(default_factory=dict[str, int])
    types: Mapping[ir.Value, ir.DataType] = field(default_factory=dict[ir.Value, ir.DataType])
    functions: Sequence[ir.Function] = ()
    unused: Sequence[ir.Function] = ()
    delays: bool = False
    stands: Mapping[NewNode, ir.Node] = field(default_factory=dict["NewNode", ir.Node])
    order: Sequence[ir.Node | NewNode] = ()
    accept: Callable[[], None] | None = None
    parts: Mapping[ir.Node, Replacement] = field(default_factory=dict[ir.Node, "Replacement"])
    inferred: Inference | None = None

    def wholly_matched(self) -> Iterator[ir.Node]:
        """Matched nodes, those of parts included."""
        yield from self.matched
        for part in self.parts.values():
            yield from part.wholly_matched()

    @staticmethod
    def by(made: NewNode, reason: str, *matched: ir.Node) -> Replacement:
        """One new node in place of a pattern, of which the last node's output is its own."""
        return Replacement(matched, {matched[-1].outputs[0]: made.output()}, reason, [made])


@frozen()
class Declined:
    """A near match and the condition that failed.

    Attributes:
        reason: in words a user can act on: "Conv output has a second consumer"; what is said of
            this place alone stands after a colon: "…: Mul 'a'".
        nodes: the nodes it is about, besides the root.
        unlock: what a user can do so that the rule fires here, as an order; only where there is
            something: "Bind the free dimensions to sizes."
    """

    reason: str
    nodes: tuple[ir.Node, ...] = ()
    unlock: str = ""


Outcome = Replacement | Declined | None


def as_attributes(attributes: Mapping[str, object]) -> list[ir.Attr]:
    """Attributes from plain Python values; None values are left out."""
    return [
        value
        if isinstance(value, ir.Attr)
        else ir.convenience.convert_attribute(name, value, _plain_type(value))  # pyright: ignore[reportArgumentType] - the converter checks
        for name, value in attributes.items()
        if value is not None
    ]


def _plain_type(value: object) -> ir.AttributeType | None:
    """What the converter would find out as well, by checking protocols, which takes 0.1 ms."""
    if isinstance(value, ir.Tensor):
        return ir.AttributeType.TENSOR
    if isinstance(value, list | tuple) and value:
        elements = cast("Sequence[object]", value)
        return ir.AttributeType.INTS if all(isinstance(e, int) for e in elements) else None
    return None
