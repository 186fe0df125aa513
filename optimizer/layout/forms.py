"""A node as it is written for data of another layout, if it can be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.cost.sizes import Sizes
from optimizer.errors import quoted
from optimizer.folding.reshape_target import reshape_target
from optimizer.layout.formats import FIRST, LAST, Blocks, order
from optimizer.model.symbolic import SymbolicValues
from optimizer.operators.call import Call
from optimizer.operators.catalogue import BROADCASTING, operator_of
from optimizer.operators.layouts import BLOCKED, LAYOUTS, NHWC, WRAPPED
from optimizer.rules import NewInitializer

_VARIADIC = frozenset({"Sum", "Max", "Min", "Mean", "PRelu"})
_MOST_CONSTANT = 1 << 22


class NotPossible(Exception):
    """The node stays as it is; the text says why, in words a user can act on."""


@dataclass(frozen=True, slots=True)
class Form:
    """What takes the place of a node.

    Attributes:
        op_type: of the new node.
        inputs: values and constants; those at `data` still lack their conversion.
        data: places of inputs that are images.
        attributes: all of them.
        domain: of the operator.
    """

    op_type: str
    inputs: Sequence[ir.Value | NewInitializer | None]
    data: tuple[int, ...]
    attributes: Mapping[str, object] = field(default_factory=dict[str, object])
    domain: str = ""


@dataclass(frozen=True, slots=True)
class Move:
    """A node on its way into another layout.

    Attributes:
        node: as it is written.
        written: `NCHW` or `NHWC`, the layout of its images.
        wanted: the same two, or any other for blocks.
        block: length of a block; 0 where `wanted` has none.
        images: layouts of values, those that are images.
        symbolic: shapes.
        opset: of the model.
    """

    node: ir.Node
    written: str
    wanted: str
    block: int
    images: Mapping[ir.Value, str]
    symbolic: SymbolicValues
    opset: int

    @property
    def rank(self) -> int:
        """Axes of the image it makes."""
        return len(self.symbolic.shape(self.node.outputs[0]) or ())

    @property
    def permutation(self) -> list[int]:
        """The Transpose of an image; before channels are cut into blocks."""
        return order(self.written, FIRST if self.block else self.wanted, self.rank)

    def axis(self, axis: int) -> int:
        """Where an axis of the written image went."""
        return self.permutation.index(axis % self.rank)

    def is_image(self, value: ir.Value | None) -> bool:
        """Whether a value lies as the node is written, axis by axis."""
        return (
            value is not None
            and self.images.get(value) == self.written
            and len(self.symbolic.shape(value) or ()) == self.rank
        )

    def blocks_of(self, value: ir.Value | None) -> Blocks:
        """The channels of an image in blocks.

        Raises:
            NotPossible: their number is free.
        """
        shape = self.symbolic.shape(value) or ()
        if len(shape) != 4:
            raise NotPossible("blocks are of images with two spatial axes")
        channels = shape[1 if self.written == FIRST else -1]
        if not isinstance(channels, int):
            raise NotPossible("the number of channels is free, and blocks need a number")
        return Blocks(channels, self.block)

    def constant(self, value: ir.Value) -> NewInitializer:
        """A constant beside images of the new layout.

        Raises:
            NotPossible: it is none, or large.
        """
        tensor = constant_of(value)
        if tensor is None or tensor.size > _MOST_CONSTANT or len(tensor.shape) > self.rank:
            raise NotPossible(f"it reads what is neither an image nor a constant: {_named(value)}")
        data = tensor.numpy()
        data = data.reshape((1,) * (self.rank - data.ndim) + data.shape)
        data = np.ascontiguousarray(data.transpose(self.permutation))
        if self.block:
            blocks = self.blocks_of(self.node.outputs[0])
            if data.shape[1] not in (1, blocks.channels):
                raise NotPossible("a constant has another number of channels")
            data = blocks.applied(data)
        return NewInitializer(ir.Tensor(data, dtype=tensor.dtype), value.name or "constant")


def form_of(place: Move) -> Form:
    """The node in the wanted layout.

    Raises:
        NotPossible: with the reason.
    """
    node = place.node
    operator = operator_of(node)
    if operator is None or node.domain:
        raise NotPossible("nothing is known of its operator's axes")
    if any(attribute.is_ref() for attribute in node.attributes.values()):
        raise NotPossible("an attribute refers to a function's")
    if node.op_type in WRAPPED:
        return _wrapped(place)
    if operator.unary or node.op_type in ("Clip", "Cast", "Dropout"):
        return _same(place, (0,))
    if node.op_type in BROADCASTING or node.op_type in _VARIADIC:
        return _broadcast(place)
    rule = _BY_AXIS.get(node.op_type)
    if rule is None:
        raise NotPossible(f"{node.op_type} is not written for other layouts")
    return rule(place)


def _attributes(place: Move, **changed: object) -> Mapping[str, object]:
    return {**place.node.attributes, **changed}


def _same(place: Move, data: tuple[int, ...], **changed: object) -> Form:
    """The same operator, with axes renamed in its attributes."""
    node = place.node
    if not all(place.is_image(node.inputs[index]) for index in data):
        raise NotPossible("its input is no image of its own layout")
    if place.block:
        for value in (*node.outputs, *(node.inputs[index] for index in data)):
            place.blocks_of(value)
    return Form(node.op_type, list(node.inputs), data, _attributes(place, **changed))


def _broadcast(place: Move) -> Form:
    node = place.node
    inputs: list[ir.Value | NewInitializer | None] = []
    data: list[int] = []
    for index, value in enumerate(node.inputs):
        if value is None or place.symbolic.shape(value) == ():
            inputs.append(value)
        elif place.is_image(value) and constant_of(value) is None:
            blocks = place.blocks_of(value) if place.block else None
            if blocks and blocks.channels != place.blocks_of(node.outputs[0]).channels:
                raise NotPossible(f"an input has other channels than the result: {_named(value)}")
            data.append(index)
            inputs.append(value)
        else:
            inputs.append(place.constant(value))
    if not data:
        raise NotPossible("it reads no image")
    return Form(node.op_type, inputs, tuple(data), _attributes(place))


def _wrapped(place: Move) -> Form:
    """A function around the standard operator."""
    node = place.node
    used = [value for value in node.outputs if value.uses() or value.is_graph_output()]
    if place.written != FIRST or place.rank != 4 or not place.is_image(node.inputs[0]):
        raise NotPossible(f"{node.op_type} is not over images of four axes")
    if used != [node.outputs[0]] or len(place.symbolic.shape(node.inputs[0]) or ()) != 4:
        raise NotPossible(f"{node.op_type} has more than one result")
    if place.wanted == LAST:
        name, attributes = f"{NHWC}{node.op_type}", _attributes(place)
    else:
        read, made = place.blocks_of(node.inputs[0]), place.blocks_of(node.outputs[0])
        name = f"{BLOCKED}{node.op_type}"
        attributes = _attributes(
            place,
            channels=[read.channels],
            padding=made.pads,
            blocks=[made.count, made.size],
        )
    return Form(name, list(node.inputs), (0,), attributes, domain=LAYOUTS)


def _concat(place: Move) -> Form:
    node = place.node
    axis = place.axis(Call(node, Sizes().fact).number("axis", 0))
    if place.block and axis == 1:
        for value in node.inputs:
            if place.blocks_of(value).channels % place.block:
                raise NotPossible(f"an input does not fill its last block: {_named(value)}")
    return _same(place, tuple(range(len(node.inputs))), axis=axis)


def _softmax(place: Move) -> Form:
    if place.opset < 13 or place.block:
        raise NotPossible("it goes over a row of channels")
    axis = place.axis(Call(place.node, Sizes().fact).number("axis", -1))
    return _same(place, (0,), axis=axis)


def _split(place: Move) -> Form:
    if place.block or not all(place.is_image(value) for value in place.node.outputs):
        raise NotPossible("its parts are no images of their own layout")
    axis = place.axis(Call(place.node, Sizes().fact).number("axis", 0))
    return _same(place, (0,), axis=axis)


def _reduced(place: Move) -> Form:
    """Over spatial axes, or over channels that are not cut, each kept as one element."""
    node = place.node
    call = Call(node, place.symbolic.fact)
    axes = call.axes("axes", 1, place.rank)
    if not axes or not call.number("keepdims", 1):
        raise NotPossible("its axes are not kept, or not known")
    new = sorted(place.axis(axis) for axis in axes)
    if place.block and 1 in new:
        raise NotPossible("it goes over the channels")
    if "axes" in node.attributes:
        return _same(place, (0,), axes=new)
    form = _same(place, (0,))
    return Form(
        form.op_type, [node.inputs[0], NewInitializer.ints(new, "axes")], (0,), form.attributes
    )


def _padded(place: Move) -> Form:
    node = place.node
    pads = _integers(node, 1)
    if pads is None or len(pads) != 2 * place.rank or (len(node.inputs) > 3 and node.inputs[3]):
        raise NotPossible("its pads are not known")
    low, high = ([pads[i + half] for i in place.permutation] for half in (0, place.rank))
    if place.block:
        if low[1] or high[1]:
            raise NotPossible("it pads channels")
        low, high = [*low, 0], [*high, 0]
    form = _same(place, (0,))
    inputs = [node.inputs[0], NewInitializer.ints([*low, *high], "pads"), *node.inputs[2:3]]
    return Form("Pad", inputs, (0,), form.attributes)


def _sliced(place: Move) -> Form:
    node = place.node
    starts = _integers(node, 1)
    axes = _integers(node, 3) if len(node.inputs) > 3 and node.inputs[3] else None
    if starts is None:
        raise NotPossible("its bounds are not known")
    new = [place.axis(axis) for axis in axes or range(len(starts))]
    if place.block and 1 in new:
        raise NotPossible("it cuts channels")
    form = _same(place, (0,))
    inputs = [*node.inputs[:3], NewInitializer.ints(new, "axes"), *node.inputs[4:5]]
    return Form("Slice", inputs, (0,), form.attributes)


def _reshaped(place: Move) -> Form:
    """Spatial axes merged into one, or cut again; batch and channels stay."""
    node = place.node
    data, result = node.inputs[0], node.outputs[0]
    before, after = place.symbolic.shape(data), place.symbolic.shape(result)
    layouts = {place.images.get(value) for value in (data, result) if value is not None}
    if place.block or before is None or after is None or layouts != {place.written}:
        raise NotPossible("it does more than merge or cut spatial axes")
    orders = [order(place.written, place.wanted, len(shape)) for shape in (before, after)]
    source, target = (tuple(s[i] for i in o) for s, o in zip((before, after), orders, strict=True))
    shape = reshape_target(source, target)
    if shape is None:
        raise NotPossible("its sizes are not known well enough to write the shape")
    return Form("Reshape", [data, NewInitializer.ints(shape, "shape")], (0,))


def _named(value: ir.Value | None) -> str:
    return quoted((value and value.name) or "")


def _integers(node: ir.Node, index: int) -> list[int] | None:
    tensor = constant_of(node.inputs[index]) if index < len(node.inputs) else None
    return None if tensor is None else [int(x) for x in tensor.numpy().reshape(-1)]


_BY_AXIS: Mapping[str, Callable[[Move], Form]] = {
    "Concat": _concat, "Softmax": _softmax, "LogSoftmax": _softmax, "Split": _split,
    "Pad": _padded, "Slice": _sliced, "Reshape": _reshaped,
    **dict.fromkeys(
        ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceSumSquare"),
        _reduced,
    ),
}  # fmt: skip
