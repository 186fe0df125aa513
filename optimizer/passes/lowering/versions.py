"""A model of a newer operator set in an older one."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import onnx_ir as ir

from optimizer.hardware import profile_of
from optimizer.hardware.meaning import means_the_same
from optimizer.model.graph import walk_nodes
from optimizer.model.signatures import signature
from optimizer.passes.draft import TO_THE_END, NotHere, numbers_of
from optimizer.passes.lowering.lowering import Lowering, lowers
from optimizer.registry import ANY, Pass, register, rule
from optimizer.rules import Context, Outcome, Replacement


@register
class LowerOpset(Pass):
    """Lower a model to the opset of a device.

    What it does:
        A Split into a number of parts gets their sizes, a Pad of some axes pads all, a Shape of
        some axes is a Slice: forms that old and new operator sets share. When every operator of the
        model means the same in the device's operator set, the model imports that.
    Before:
        opset 18: x → Split<num_outputs = 2> → y, z
    After:
        opset 13: x → Split(x, [4, 4]) → y, z
    When it is safe:
        The device takes opset 13 or a later one. Sizes of what is split are known.
    Numerics:
        The same operators. A runtime may have another kernel for an operator set: ONNX Runtime's
        AveragePool adds in another order from opset 19 on.
    Source:
        ONNX operator changelog.
    """

    id = "lower-opset"
    exactness = "reassociates"
    order = 90
    global_analysis = True

    profile: str = "opset13"

    @lowers("Split", name="NumberOfParts")
    def split(self, lowering: Lowering) -> Replacement | None:
        """A Split into equal parts, the last of which may be smaller."""
        count = int(lowering.of("num_outputs") or 0)
        if not count:
            return None
        x = lowering.input(0)
        axis = lowering.axis("axis", lowering.rank(x))
        size = numbers_of(x)[axis]
        part = -(-size // count)
        sizes = lowering.integers(*[part] * (count - 1), size - part * (count - 1))
        made = lowering.news("Split", x, sizes, count=count, axis=axis)
        return lowering.put_all(made, "The sizes of its parts are known.")

    @lowers("Pad", name="PadOfSomeAxes")
    def pad(self, lowering: Lowering) -> Replacement:
        """A Pad that names its axes."""
        x, rank = lowering.input(0), lowering.rank(lowering.input(0))
        axes = lowering.context.ints(lowering.optional_input(3))
        given = lowering.context.ints(lowering.input(1))
        if axes is None or given is None:
            raise NotHere("its axes or its padding are computed")
        pads = [0] * (2 * rank)
        for index, axis in enumerate(axes):
            pads[axis % rank] = given[index]
            pads[axis % rank + rank] = given[index + len(axes)]
        mode = lowering.text("mode", "constant")
        if mode == "wrap":
            raise NotHere("padding by wrapping is newer")
        filling = lowering.optional_input(2)
        more = () if filling is None else (filling,)
        made = lowering.new("Pad", x, lowering.integers(*pads), *more, mode=mode)
        return lowering.put(made, "All axes are named, the others with nothing.")

    @lowers("Shape", name="ShapeOfSomeAxes")
    def shape(self, lowering: Lowering) -> Replacement:
        """A Shape from one axis to another."""
        start, end = int(lowering.of("start") or 0), lowering.of("end")
        whole = lowering.new("Shape", lowering.input(0))
        last = TO_THE_END if end is None else int(end)
        return lowering.put(lowering.slice(whole, [0], [start], [last]), "It is a part of a Shape.")

    @lowers("Reshape", name="ZeroIsZero")
    def reshape(self, lowering: Lowering) -> Replacement | None:
        """A Reshape in which 0 would be a size, where it copies one that is 0."""
        if not lowering.of("allowzero"):
            return None
        before = lowering.shape(lowering.input(0)) or ()
        target = lowering.context.symbolic.fact(lowering.input(1)).content
        if not isinstance(target, tuple):
            raise NotHere("nothing is known of its target")
        for axis, size in enumerate(target):
            copied = size is not None and size == (before[axis] if axis < len(before) else None)
            if not copied and not (isinstance(size, int) and size):
                raise NotHere("its target may hold a 0 that is a size")
        changed: dict[ir.Node, Mapping[str, object]] = {lowering.node: {"allowzero": None}}
        why = "A 0 in its target could only be a size that it copies."
        return Replacement([lowering.node], {}, why, attributes=changed)

    @rule(ANY, name="OlderOpset")
    def lowered(self, node: ir.Node, context: Context) -> Outcome:
        """Any node of the main graph, when nothing in the model is in the way."""
        graph = node.graph
        wanted = profile_of(self.profile).opset
        if not isinstance(graph, ir.Graph) or not 13 <= wanted < context.opset():
            return None
        if len(list(context.scopes(graph))) > 1:
            return None
        if _in_the_way(graph, context, wanted):
            return None
        reason = f"All operators of the model mean the same in opset {wanted}."
        silent = _silent_attributes(graph, wanted)
        return Replacement([node], {}, reason, attributes=silent, opsets={"": wanted})


def _in_the_way(graph: ir.Graph, context: Context, wanted: int) -> bool:
    """Whether a node means something else there; one that was found is asked again first."""
    known = context.memory.get("obstacle")
    nodes = [known] if isinstance(known, ir.Node) and known.graph is not None else []
    for node in itertools.chain(nodes, walk_nodes(graph)):
        if not node.domain and not means_the_same(node, now=context.opset(), then=wanted):
            context.memory["obstacle"] = node
            return True
    return False


def _silent_attributes(graph: ir.Graph, wanted: int) -> Mapping[ir.Node, Mapping[str, object]]:
    """Attributes that the older operator set does not know, and that say nothing."""
    found: dict[ir.Node, Mapping[str, object]] = {}
    for node in walk_nodes(graph):
        known = None if node.domain else signature("", node.op_type, wanted)
        newer = [] if known is None else [n for n in node.attributes if n not in known.attributes]
        if newer:
            found[node] = {name: None for name in newer}
    return found
