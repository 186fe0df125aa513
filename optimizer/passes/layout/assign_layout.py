"""Every node in the layout in which all of them together take least."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import onnx_ir as ir

from optimizer.errors import quoted
from optimizer.layout.formats import FIRST, Blocks, order
from optimizer.layout.planning import Conversion, LayoutPlan, Moved, assign
from optimizer.layout.targets import Target, target_of
from optimizer.model.own_functions import functions_of
from optimizer.numbers import bytes_text, three_digits
from optimizer.operators.layouts import LAYOUTS, WRAPPED
from optimizer.passes.wording import described
from optimizer.registry import ANY, Pass, register, rule
from optimizer.rules import Context, Declined, NewNode, Operand, Outcome, Replacement


@register
class AssignLayout(Pass):
    """Assign layouts to a device.

    What it does:
        For every node over images the layout is chosen so that kernels and conversions of the whole
        graph are predicted to take least on the target; its certificate says whether that was
        proven. Each node that moves is one step: its images are converted, it works in its layout,
        its result is converted back. Cancel layout conversions then takes out what meets its
        inverse.
    Before:
        x → Conv → Relu → y
    After:
        x → TransData → BlockedConv → Relu → TransDataBack → y
    When it is safe:
        The operator is known to follow, or the standard one runs inside a function of the model
        between two conversions. Blocks need a number of channels, and functions opset 12.
    Numerics:
        The same arithmetic; reductions may add in another order.
    Source:
        Liu et al. 2019, Optimizing CNN Model Inference on CPUs (NeoCPU), for the problem; Picard
        and Queyranne 1980 for two layouts as a cut.

    Attributes:
        target: cpu (blocks as ONNX Runtime has them), cuda (NHWC), nc1hwc0 (a cube device).
        block: channels of a block on a CPU, 8 or 16; 0 for the target's own.
    """

    id = "assign-layout"
    exactness = "reassociates"
    global_analysis = True

    target: str = "cpu"
    block: int = 0

    @rule(ANY, name="NodeInAnotherLayout", reach=1)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Write a node for the layout that the plan gives it."""
        if node.domain or not node.outputs or [*context.scopes(cast("ir.Graph", node.graph))][1:]:
            return None
        target = target_of(self.target, block=self.block)
        plan = cast("LayoutPlan | None", context.memory.get(target.id))
        if plan is None:
            graph = cast("ir.Graph", node.graph)
            plan = assign(graph, target, context.symbolic, context.opset())
            context.memory[target.id] = plan
        moved = plan.moved.get(node)
        if moved is not None:
            return _Writing(node, moved, target, context).replacement(
                _reason(node, moved, plan, target.layout)
            )
        if node.op_type in WRAPPED and node in plan.reasons:
            reason = plan.reasons[node]
            return Declined(f"{reason[0].upper()}{reason[1:]}")
        return None


@dataclass(slots=True)
class _Writing:
    """The nodes that take the place of one."""

    node: ir.Node
    moved: Moved
    target: Target
    context: Context
    made: list[NewNode] = field(default_factory=list[NewNode])

    def replacement(self, reason: str) -> Replacement:
        """Conversions of its images, the node, and conversions back."""
        form, outputs = self.moved.form, len(self.node.outputs)
        # Steps before this one may have put other values in the places of those of the plan.
        inputs: list[Operand | None] = [
            self.node.inputs[index] if isinstance(operand, ir.Value) else operand
            for index, operand in enumerate(form.inputs)
        ]
        for index in form.data:
            inputs[index] = self._into(cast("ir.Value", inputs[index]))
        new = NewNode(form.op_type, inputs, form.attributes, domain=form.domain, outputs=outputs)
        self.made.append(new)
        values = {
            value: self._back(new.output(index), value)
            for index, value in enumerate(self.node.outputs)
            if index == 0 or self.node.op_type == "Split"
        }
        own = [node.op_type for node in self.made if node.domain == LAYOUTS]
        functions = functions_of(own, self.context.opset())
        return Replacement([self.node], values, reason, self.made, functions=functions)

    def _into(self, value: ir.Value) -> Operand:
        """An image in the node's layout."""
        place, operand = self.moved.place, cast("Operand", value)
        rank = self.context.rank(value) or place.rank
        perm = order(place.written, FIRST if place.block else place.wanted, rank)
        if perm != sorted(perm):
            operand = self._there("Transpose", operand, {"perm": perm}) or self._add(
                "Transpose", operand, {"perm": perm}
            )
        if place.block:
            blocks = place.blocks_of(value)
            attributes = self._into_attributes(blocks)
            operand = self._there("TransData", operand, attributes) or self._add(
                "TransData", operand, attributes
            )
        return operand

    def _back(self, made: Operand, value: ir.Value) -> Operand:
        place = self.moved.place
        if place.block:
            blocks = place.blocks_of(value)
            formats = {"src_format": self.target.layout, "dst_format": FIRST}
            made = self._add("TransDataBack", made, {**formats, "channels": [blocks.channels]})
        rank = self.context.rank(value) or place.rank
        perm = order(FIRST if place.block else place.wanted, place.written, rank)
        return made if perm == sorted(perm) else self._add("Transpose", made, {"perm": perm})

    def _into_attributes(self, blocks: Blocks) -> dict[str, object]:
        formats = {"src_format": FIRST, "dst_format": self.target.layout}
        return {**formats, "pads": blocks.pads, "blocks": [blocks.count, blocks.size]}

    def _add(self, op_type: str, data: Operand, attributes: dict[str, object]) -> Operand:
        domain = "" if op_type == "Transpose" else LAYOUTS
        name = f"{self.node.name or self.node.op_type}/{op_type}"
        new = NewNode(op_type, [data], attributes, domain=domain, name=name)
        self.made.append(new)
        return new.output()

    def _there(self, op_type: str, data: Operand, attributes: dict[str, object]) -> ir.Value | None:
        """The same conversion where somebody else has asked for it before."""
        if not isinstance(data, ir.Value):
            return None
        for use in data.uses():
            other = use.node
            given = {name: _plain(one.value) for name, one in other.attributes.items()}
            same = other.op_type == op_type and other.graph is self.node.graph
            if same and given == attributes and self.context.precedes(other, self.node):
                return other.outputs[0]
        return None


def _plain(value: object) -> object:
    return [*cast("list[object]", value)] if isinstance(value, list | tuple) else value


def _reason(node: ir.Node, moved: Moved, plan: LayoutPlan, blocks: str) -> str:
    """What the node gains, what is converted for it, and who asks for that."""
    before = moved.written_us
    layout = blocks if moved.place.block else moved.place.wanted
    gain = "the target has no other kernel" if before is None else f"{_us(before)} as written"
    told = [f"{node.op_type} works in {layout}: {_us(moved.us)} predicted, {gain}."]
    around = plan.around.get(node, ())
    told += [_forced(one) for one in around if node in one.readers]
    told += [
        f"Its result is converted to {one.wanted} for {_readers(one)}: {_price(one)}."
        for one in around
        if one.value in node.outputs
    ]
    if len(told) == 1:
        told.append("Nothing is converted: what stands around it works in the same layout.")
    return " ".join(told)


def _forced(one: Conversion) -> str:
    producer = one.value.producer()
    maker = "the graph's input" if producer is None else described(producer)
    return f"{quoted(one.value.name or '')} of {maker} is converted from {one.made}: {_price(one)}."


def _readers(one: Conversion) -> str:
    if not one.readers:
        return "the graph's output"
    more = len(one.readers) - 1
    return described(one.readers[0]) + (f" and {more} more" if more else "")


def _price(one: Conversion) -> str:
    return f"{bytes_text(one.size_bytes)} moved, {_us(one.us)}"


def _us(number: float) -> str:
    return f"{three_digits(number)} µs"
