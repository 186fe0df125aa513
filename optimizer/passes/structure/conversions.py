"""What operators are in the next operator set, where that writes them otherwise.

By operator and version, as the changelog of ONNX has them. An entry gives attributes to set on a
node that stays, or what takes the place of its outputs; it raises `NotHere` where the newer set has
no form that means the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import onnx_ir as ir

from optimizer.model.graph import is_used
from optimizer.passes.draft import Draft, NotHere
from optimizer.rules import Context, NewNode, Operand, given

_GONE = "tf_half_pixel_for_nn"

Converted = Mapping[str, object] | Sequence[Operand | None]


@dataclass(frozen=True, slots=True)
class Site:
    """A node that the next operator set writes otherwise.

    Attributes:
        node: as it is.
        draft: where new nodes go, of the next operator set.
        context: of the rule that asks.
    """

    node: ir.Node
    draft: Draft
    context: Context

    @property
    def data(self) -> ir.Value:
        """The first input."""
        value = self.node.inputs[0]
        if value is None:
            raise NotHere("its input is left out")
        return value

    def of(self, name: str) -> Any:
        """An attribute; None where it is not set and has no default."""
        return self.context.attribute(self.node, name)

    def rank(self) -> int:
        """Number of dimensions of the first input.

        Raises:
            NotHere: it is not known.
        """
        rank = self.context.rank(self.data)
        if rank is None:
            raise NotHere("the rank of its input is not known")
        return rank

    def ints(self, name: str) -> Operand | None:
        """A list attribute as a constant; None where it is not set."""
        numbers = self.of(name)
        return None if numbers is None else self.draft.integers(*numbers)

    def number(self, name: str) -> Operand | None:
        """A float attribute in the type of the first input; None where it is not set."""
        if name not in self.node.attributes:
            return None
        return self.draft.like(self.of(name), self.data)

    def written(
        self,
        *inputs: Operand | None,
        without: Sequence[str] = (),
        operator: str = "",
        new: Mapping[str, object] | None = None,
    ) -> list[Operand | None]:
        """The node again with these inputs, less some attributes and with others."""
        trimmed = [*inputs]
        while trimmed and trimmed[-1] is None:
            trimmed.pop()
        node = self.node
        kept = {name: one for name, one in node.attributes.items() if name not in without}
        count, name = len(node.outputs), node.name
        op_type = operator or node.op_type
        made = NewNode(op_type, trimmed, {**kept, **(new or {})}, "", count, name, twin=node)
        self.draft.made.append(made)
        return [made.output(index) for index in range(count)]


Conversion = Callable[[Site], Converted]


def _same(_site: Site) -> Converted:
    """What it was able to do before, it does as before."""
    return {}


def _without(*names: str) -> Conversion:
    """Attributes that say nothing outside of training, or what is so anyway."""

    def convert(site: Site) -> Converted:
        return {name: None for name in names if name in site.node.attributes}

    return convert


def _axes_as_input(site: Site) -> Converted:
    """Squeeze, Unsqueeze and the reductions."""
    return site.written(site.data, site.ints("axes"), without=["axes"])


def _split_sizes_as_input(site: Site) -> Converted:
    return site.written(site.data, site.ints("split"), without=["split"])


def _split_into_parts(site: Site) -> Converted:
    if given(site.node, 1) is not None:
        return {}
    return {"num_outputs": len(site.node.outputs)}


def _slice(site: Site) -> Converted:
    lists = [site.ints(name) for name in ("starts", "ends", "axes")]
    return site.written(site.data, *lists, without=["starts", "ends", "axes"])


def _pad(site: Site) -> Converted:
    filling = site.number("value")
    return site.written(site.data, site.ints("pads"), filling, without=["pads", "value"])


def _clip(site: Site) -> Converted:
    low, high = site.number("min"), site.number("max")
    return site.written(site.data, low, high, without=["min", "max"])


def _top_k(site: Site) -> Converted:
    return site.written(site.data, site.draft.integers(site.of("k")), without=["k"])


def _dropout_mask(site: Site) -> Converted:
    """The mask became boolean: one that nobody reads goes."""
    mask = site.node.outputs[1] if len(site.node.outputs) > 1 else None
    if mask is None or not mask.name:
        return {}
    if is_used(mask):
        raise NotHere("its mask is read, which is boolean there")
    return _first_output(site)


def _batch_norm_spatial(site: Site) -> Converted:
    if not site.context.attribute(site.node, "spatial"):
        raise NotHere("it has statistics for every place, which none has there")
    _only_the_first(site)
    return _without("spatial")(site)


def _batch_norm_outputs(site: Site) -> Converted:
    """Outputs of training, which nobody reads."""
    _only_the_first(site)
    return _first_output(site)


def _first_output(site: Site) -> list[Operand | None]:
    """The node again, without its other outputs."""
    node = site.node
    made = NewNode(node.op_type, [*node.inputs], dict(node.attributes), name=node.name)
    site.draft.made.append(made)
    return [made.output()]


def _only_the_first(site: Site) -> None:
    if any(map(is_used, site.node.outputs[1:])):
        raise NotHere("its outputs of training are read")


def _upsample_scales(site: Site) -> Converted:
    scales = site.draft.weight(np.asarray(site.of("scales"), np.float32))
    return site.written(site.data, scales, without=["scales"])


def _upsample(site: Site) -> Converted:
    return site.written(*site.node.inputs, operator="Resize")


def _resize(site: Site) -> Converted:
    """Before version 11 places are counted from the corner; a smaller one is rounded up."""
    nearest = site.of("mode") in ("nearest", b"nearest")
    new: dict[str, object] = {"coordinate_transformation_mode": "asymmetric"}
    if nearest:
        scales = site.context.array(site.node.inputs[1])
        if scales is None:
            raise NotHere("its scales are computed, and they decide how it rounds")
        if scales.min() < 1 < scales.max():
            raise NotHere("it makes some axes larger and others smaller")
        new["nearest_mode"] = "floor" if scales.min() >= 1 else "ceil"
    return site.written(site.data, _no_region(site), site.node.inputs[1], new=new)


def _no_region(site: Site) -> Operand:
    """An input that version 11 demands and only `tf_crop_and_resize` reads."""
    return site.draft.weight(np.zeros(0, np.float32))


def _resize_or_sizes(site: Site) -> Converted:
    if site.of("coordinate_transformation_mode") in (
        "tf_half_pixel_for_nn",
        b"tf_half_pixel_for_nn",
    ):
        raise NotHere("its coordinates, tf_half_pixel_for_nn, are gone there")
    scales = site.context.array(given(site.node, 2))
    if given(site.node, 3) is None or scales is None or scales.size:
        return {}
    region = site.node.inputs[1]
    return site.written(site.data, region, None, site.node.inputs[3])


def _along_one_axis(site: Site) -> Converted:
    """Softmax and its like run over all axes from one on, there along a single one."""
    node = site.node
    axis, rank = int(site.of("axis")), site.context.rank(site.data)
    if axis == -1 or (rank is not None and axis % rank == rank - 1):
        return {} if "axis" in node.attributes else {"axis": axis}
    draft = site.draft
    sizes = draft.new("Shape", site.data)
    flat = draft.new("Flatten", site.data, axis=axis)
    return [draft.new("Reshape", draft.new(node.op_type, flat, axis=-1), sizes)]


def _roi_align(site: Site) -> Converted:
    return {"coordinate_transformation_mode": "output_half_pixel"}


def _grid_sample(site: Site) -> Converted:
    mode = site.node.attributes.get_string("mode", "bilinear")
    names = {"bilinear": "linear", "bicubic": "cubic"}
    return {"mode": names.get(mode, mode)}


def _dft(site: Site) -> Converted:
    axis = site.draft.place(int(site.of("axis")))
    return site.written(site.data, given(site.node, 1), axis, without=["axis"])


def _group_norm(site: Site) -> Converted:
    """Scale and bias, one for each group, become one for each channel."""
    shape = site.context.symbolic.shape(site.data)
    channels = shape[1] if shape is not None and len(shape) > 1 else None
    groups = int(site.of("num_groups"))
    if not isinstance(channels, int) or channels % groups:
        raise NotHere("its channels are not counted")
    places = site.draft.integers(*np.repeat(np.arange(groups), channels // groups).tolist())
    each = [site.draft.new("Gather", value, places, axis=0) for value in site.node.inputs[1:]]
    return site.written(site.data, *each)


def _average_pool(_site: Site) -> Converted:
    raise NotHere("what its last window divides by, with ceil_mode, has changed there")


def _scatter(site: Site) -> Converted:
    return site.written(*site.node.inputs, operator="ScatterElements")


def _reshape(site: Site) -> Converted:
    return site.written(site.data, site.ints("shape"), without=["shape", "consumed_inputs"])


def _broadcast(site: Site) -> Converted:
    """Operands were broadcast on demand, from an axis on."""
    node, without = site.node, ["axis", "broadcast", "consumed_inputs"]
    if not site.of("broadcast"):
        return {name: None for name in without if name in node.attributes}
    ranks = [site.context.rank(value) for value in node.inputs]
    second = node.inputs[1]
    if "axis" not in node.attributes:
        return {name: None for name in without if name in node.attributes}
    if None in ranks or second is None:
        raise NotHere("the ranks of its operands are not known")
    first_rank, second_rank = cast("list[int]", ranks)
    behind = first_rank - int(site.of("axis")) % first_rank - second_rank
    if behind <= 0:
        return {name: None for name in without if name in node.attributes}
    wider = site.draft.new("Unsqueeze", second, axes=[*range(second_rank, second_rank + behind)])
    return site.written(site.data, wider, without=without)


def _slope(site: Site) -> Converted:
    """A slope for each channel, which was not broadcast from the right."""
    slope, rank = site.node.inputs[1], site.rank()
    if slope is None or site.context.rank(slope) != 1 or rank <= 2:
        return {}
    return site.written(site.data, site.draft.unsqueeze(slope, *range(1, rank - 1)))


def _for_inference(*gone: str) -> Conversion:
    """What is told to be a test needs no telling there; training has another form."""

    def convert(site: Site) -> Converted:
        if not site.of("is_test"):
            raise NotHere("it is written for training: is_test is 0")
        return {name: None for name in ("is_test", *gone) if name in site.node.attributes}

    return convert


def _concat(site: Site) -> Converted:
    return {} if "axis" in site.node.attributes else {"axis": 1}


_REDUCTIONS = (
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
    "ReduceMin", "ReduceProd", "ReduceSumSquare",
)  # fmt: skip
_ARITHMETIC = (
    "Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor",
)  # fmt: skip
_CONSUMED = (
    "Abs", "Ceil", "Clip", "Elu", "Exp", "Floor", "HardSigmoid", "InstanceNormalization",
    "LeakyRelu", "Log", "Max", "Mean", "Min", "Neg", "PRelu", "Reciprocal", "Relu", "Selu",
    "Sigmoid", "Sqrt", "Sum", "Tanh",
)  # fmt: skip
"""Had an attribute that meant nothing."""

CONVERSIONS: Mapping[tuple[str, int], Conversion] = {
    ("Concat", 4): _concat,
    ("Reshape", 5): _reshape,
    **{(name, 6): _without("consumed_inputs") for name in (*_CONSUMED, *_ARITHMETIC)},
    ("BatchNormalization", 6): _without("consumed_inputs"),
    ("Dropout", 6): _without("consumed_inputs"),
    **{(name, 7): _broadcast for name in _ARITHMETIC},
    ("BatchNormalization", 7): _for_inference(),
    ("Dropout", 7): _for_inference(),
    ("Gemm", 7): _without("broadcast"),
    ("PRelu", 7): _slope,
    **{(name, 8): _same for name in ("Max", "Mean", "Min", "Sum")},
    ("BatchNormalization", 9): _batch_norm_spatial,
    ("Upsample", 9): _upsample_scales,
    ("Dropout", 10): _dropout_mask,
    ("Slice", 10): _slice,
    ("TopK", 10): _top_k,
    ("Upsample", 10): _upsample,
    ("Clip", 11): _clip,
    ("Pad", 11): _pad,
    ("Resize", 11): _resize,
    ("Scatter", 11): _scatter,
    ("Dropout", 12): _without("ratio"),
    ("ReduceSum", 13): _axes_as_input,
    ("Split", 13): _split_sizes_as_input,
    ("Squeeze", 13): _axes_as_input,
    ("Unsqueeze", 13): _axes_as_input,
    ("Resize", 13): _resize_or_sizes,
    **{(name, 13): _along_one_axis for name in ("Hardmax", "LogSoftmax", "Softmax")},
    ("BatchNormalization", 14): _batch_norm_outputs,
    ("RoiAlign", 16): _roi_align,
    **{(name, 18): _axes_as_input for name in _REDUCTIONS},
    ("Split", 18): _split_into_parts,
    ("AveragePool", 19): _average_pool,
    ("DFT", 20): _dft,
    ("GridSample", 20): _grid_sample,
    ("GroupNormalization", 21): _group_norm,
}
"""By operator and the version that changed it."""

ALWAYS = frozenset({("DFT", 20), ("Dropout", 10), ("PRelu", 7), ("Resize", 13), ("Split", 18)})
"""Those that a node's form does not show: they are asked for every node of the operator."""
