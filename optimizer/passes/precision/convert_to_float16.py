"""A network in 16 bits, casts where they begin and end."""

from __future__ import annotations

from typing import cast

import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.errors import quoted
from optimizer.model.graph import given_outputs, is_used
from optimizer.numbers import bytes_text, counted
from optimizer.precision.assignment import FormatAssignment, assigned
from optimizer.precision.float_formats import FloatFormat, format_named, losses
from optimizer.precision.masks import bounded, bounded_fill
from optimizer.precision.sixteen_bits import FLOAT, TypedPositions, reason_to_stay, signature
from optimizer.registry import ANY, Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    NewOutput,
    Operand,
    Outcome,
    Replacement,
    producer_of,
)

_EXACT = frozenset({ir.DataType.BOOL, ir.DataType.INT8, ir.DataType.UINT8})
"""Types of which either format holds every number."""


@register
class ConvertToFloat16(Pass):
    """Compute in float16.

    What it does:
        Convolutions, products, attention and recurrence are computed in 16 bits, and whatever
        between them moves fewer bytes so, casts counted (a minimum cut). A cast is made once for
        all who read it; a cast there and back is left out; constants are stored in 16 bits. Masks
        beyond the range are put within it, to a quarter of the largest number, so that no sum with
        them is infinite. `format` may be bfloat16: float32's range, 8 bits of precision. The nodes
        in `keep`, by id, stay float32. Inputs and outputs keep their types, unless `io` has those
        take 16 bits that are cast at the border.
    Before:
        x → Conv → Relu → Exp → y
    After:
        x → Cast → Conv → Relu → Cast → Exp → y
    When it is safe:
        The operator takes the format, its constants are within the range, and it is no operator
        that asks for more range or digits (Exp, Pow, comparisons). What has a body stays float32,
        the body too. What values leave the range when it runs is not looked at here: `keep` is
        where they stay (`profiling.precision` finds them).
    Numerics:
        11 bits of precision, numbers up to 65504; as bfloat16 8 bits and float32's range.
    Source:
        IEEE 754-2019, binary16; Boykov and Kolmogorov 2004, minimum cuts.
    """

    id = "convert-to-float16"
    exactness = "lossy"
    order = 90
    global_analysis = True

    format: str = "float16"
    keep: tuple[str, ...] = ()
    io: bool = False

    @rule(ANY, name="MaskBeyondRange")
    def bound(self, node: ir.Node, context: Context) -> Outcome:
        """A mask or bound that a node reads or makes."""
        form = format_named(self.format)
        if node.op_type == "ConstantOfShape" and not node.domain:
            fill = bounded_fill(node, form)
            changes = {} if fill is None else {node: {"value": ir.Tensor(fill)}}
            return Replacement([node], {}, _BOUNDED, attributes=changes) if changes else None
        for value in node.inputs:
            array = bounded(value, form)
            if value is None or array is None:
                continue
            new = NewInitializer(ir.Tensor(array), f"{value.name}_bounded")
            return Replacement([node], {value: new}, _BOUNDED)
        return None

    @rule(ANY, name="In16Bits")
    def reduce(self, node: ir.Node, context: Context) -> Outcome:
        """One node of the main graph."""
        graph = node.graph
        if not isinstance(graph, ir.Graph) or len(list(context.scopes(graph))) > 1:
            return None
        form = format_named(self.format)
        plan = cast("FormatAssignment | None", context.memory.get("assignment"))
        if plan is None:
            keep = frozenset(self.keep)
            plan = context.memory["assignment"] = assigned(graph, form, context.opsets, keep)
        if node not in plan.sixteen:
            return Declined(plan.stays[node]) if node in plan.stays else None
        if not any(map(is_used, node.outputs)):
            return None
        found = signature(node, context.opsets)
        why = reason_to_stay(node, form, context.opsets, self.keep)  # it may read other constants
        return Declined(why) if why or found is None else _Step(node, form, context).reduced(found)

    @rule("CastLike", name="TypeOfAnother")
    def written(self, node: ir.Node, context: Context) -> Outcome:
        """A cast to the type of another value, which may be about to change."""
        source, like = node.inputs
        if source is None or like is None or like.dtype != FLOAT or constant_of(like) is not None:
            return None
        if source.dtype == FLOAT:
            return Replacement([node], {node.outputs[0]: source}, "It is float32 already.")
        made = NewNode("Cast", [source], {"to": int(FLOAT)})
        return Replacement.by(made, "The type is float32, whatever the other value becomes.", node)

    @rule("Cast", name="CastThereAndBack", reach=2)
    def cancel(self, node: ir.Node, context: Context) -> Outcome:
        """A value of 16 bits that is cast to float32 and back is as it was."""
        first = producer_of(node.inputs[0], "Cast")
        source = None if first is None else first.inputs[0]
        if first is None or source is None or source.dtype != node.outputs[0].dtype:
            return None
        if (source.dtype, first.outputs[0].dtype) != (format_named(self.format).dtype, FLOAT):
            return None
        return Replacement([first, node], {node.outputs[0]: source}, "float32 holds all of it.")

    @rule("Cast", name="InputIn16Bits")
    def taken(self, node: ir.Node, context: Context) -> Outcome:
        """An input of the network that is cast to 16 bits comes in 16 bits."""
        value, dtype = node.inputs[0], format_named(self.format).dtype
        if not self.io or value is None or not value.is_graph_input() or value.dtype != FLOAT:
            return None
        if node.outputs[0].dtype != dtype or value.is_initializer() or value.is_graph_output():
            return None
        up = NewNode("Cast", [value], {"to": int(FLOAT)}, name=f"{value.name}_float32")
        others = [use for use in value.uses() if use.node is not node]
        if any(not context.precedes(node, use.node) for use in others):
            return Declined("the input is read in float32 before it is cast")
        return Replacement(
            [node],
            {node.outputs[0]: value},
            "Who calls the network casts it.",
            [up] if others else [],
            inputs={(use.node, use.idx): up.output() for use in others},
            types={value: dtype},
        )

    @rule("Cast", name="OutputIn16Bits")
    def given(self, node: ir.Node, context: Context) -> Outcome:
        """An output of the network that is cast from 16 bits goes out in 16 bits."""
        value, result, dtype = node.inputs[0], node.outputs[0], format_named(self.format).dtype
        if not self.io or value is None or not result.is_graph_output() or result.uses():
            return None
        if (value.dtype, result.dtype) != (dtype, FLOAT):
            return None
        why = "Who calls the network casts it."
        return Replacement([node], {result: value}, why, types={result: dtype})

    @rule("Cast", name="CastOfConstant")
    def store(self, node: ir.Node, context: Context) -> Outcome:
        """A constant that is cast in every run is stored as it comes out."""
        form = format_named(self.format)
        source, tensor = node.inputs[0], constant_of(node.inputs[0])
        if source is None or tensor is None or tensor.dtype != FLOAT:
            return None
        if node.attributes.get_int("to", 0) != form.dtype:
            return None
        array = tensor.numpy()
        rounded = ir.Tensor(form.rounded(array), dtype=form.dtype)
        lost = str(losses(array, form))
        size = f"{bytes_text(tensor.nbytes)} become {bytes_text(rounded.nbytes)}"
        why = f"{quoted(source.name or '')} is constant: {size}{'; ' if lost else ''}{lost}."
        new = NewInitializer(rounded, f"{source.name}_{form.name}")
        return Replacement([node], {node.outputs[0]: new}, why)


_BOUNDED = (
    "A mask beyond the range would be infinite in 16 bits; a quarter of the range masks as well."
)


class _Step:
    """One node that is put into 16 bits."""

    def __init__(self, node: ir.Node, form: FloatFormat, context: Context) -> None:
        self._node, self._form, self._context = node, form, context
        self._casts: dict[ir.Value, NewNode] = {}
        self._matched: dict[ir.Node, None] = {}

    def reduced(self, found: TypedPositions) -> Replacement:
        """The node in 16 bits between casts of what it reads and gives."""
        node, dtype = self._node, self._form.dtype
        operands: list[Operand | None] = [
            value if value is None or index not in found.inputs else self._cast(value)
            for index, value in enumerate(node.inputs)
        ]
        used = [index for index, value in enumerate(node.outputs) if is_used(value)]
        floats = [i for i in found.outputs if node.outputs[i].dtype == FLOAT]
        new = NewNode(
            node.op_type, operands, dict(node.attributes), node.domain, given_outputs(node),
            name=node.name, twin=node, retyped=dict.fromkeys(floats, dtype),
        )  # fmt: skip
        values: dict[ir.Value, Operand] = {}
        backs: list[NewNode] = []
        for index in used:
            result = new.output(index)
            if index in floats:
                up = f"{node.outputs[index].name}_float32"
                backs.append(NewNode("Cast", [result], {"to": int(FLOAT)}, name=up))
                result = backs[-1].output()
            values[node.outputs[index]] = result
        nodes = (*self._casts.values(), new, *backs)
        return Replacement([*self._matched, node], values, self._reason(), nodes)

    def _cast(self, value: ir.Value) -> ir.Value | NewOutput:
        """A value in 16 bits: what it was cast from, what it is cast to already, or a new cast."""
        source = value
        maker = value.producer()
        if maker is not None and maker.op_type == "Cast" and not maker.domain:
            before = maker.inputs[0]
            if before is not None and before.dtype in (self._form.dtype, *_EXACT):
                self._matched[maker] = None
                source = before
        if source.dtype == self._form.dtype:
            return source
        for use in source.uses():
            there = use.node.attributes.get_int("to", 0) if use.node.op_type == "Cast" else 0
            if there == self._form.dtype and self._context.precedes(use.node, self._node):
                return use.node.outputs[0]
        name = f"{source.name}_{self._form.name}"
        cast_down = NewNode("Cast", [source], {"to": int(self._form.dtype)}, name=name)
        return self._casts.setdefault(source, cast_down).output()

    def _reason(self) -> str:
        casts = sum(constant_of(value) is None for value in self._casts)
        what = f"{counted(casts, 'value')} that it reads cast" if casts else "nothing new to cast"
        return f"It takes {self._form.name}, with {what}."
