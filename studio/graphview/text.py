"""Short texts for shapes, numbers, attributes and whole nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import cast

import onnx_ir as ir

from optimizer.constants import constant_of, is_absent
from optimizer.numbers import counted
from optimizer.operators.layouts import BLOCKED, LAYOUTS, NHWC

MINUS = "\u2212"
TIMES = "\u00d7"
MAX_TEXT = 120
MAX_NUMBERS = 8
"""Up to so many elements a constant is written out."""


def cut(text: str, limit: int = MAX_TEXT) -> str:
    """`text`, at most `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def dims_text(dims: Iterable[object]) -> str:
    """Dimensions joined by ×: "64×3×7×7"; a scalar is "scalar"."""
    parts = [str(d) if d is not None else "?" for d in dims]
    return TIMES.join(parts) if parts else "scalar"


def shape_text(shape: ir.Shape | None) -> str:
    """A shape, "" when unknown."""
    if shape is None:
        return ""
    return dims_text(d if isinstance(d, int) else d.value for d in shape)


def dtype_text(value: ir.Value) -> str:
    """A value's element type in numpy's words, "" when unknown."""
    if value.dtype is None:
        return "" if value.type is None else cut(str(value.type), 40)
    return dtype_name(value.dtype)


def dtype_name(dtype: ir.DataType) -> str:
    """An element type in numpy's words: float32, int64, bool."""
    name = dtype.name.lower()
    return {"float": "float32", "double": "float64"}.get(name, name)


def number_text(number: float) -> str:
    """A number with at most four significant digits and a real minus sign."""
    text = f"{number:.4g}" if isinstance(number, float) else str(number)
    return text.replace("e-0", f"e{MINUS}").replace("e+0", "e").replace("-", MINUS)


def scalar_text(value: ir.Value | None) -> str | None:
    """A one-element constant as text."""
    tensor = constant_of(value)
    if tensor is None or tensor.size != 1 or tensor.dtype == ir.DataType.STRING:
        return None
    return number_text(tensor.numpy().item())


def vector_text(value: ir.Value | None, limit: int = MAX_NUMBERS) -> str | None:
    """A short constant integer vector as text: "−1×12×64"."""
    tensor = constant_of(value)
    if tensor is None or tensor.size > limit or not tensor.dtype.is_integer():
        return None
    return ", ".join(number_text(int(x)) for x in tensor.numpy().reshape(-1))


def attribute_text(attribute: ir.Attr) -> str:
    """An attribute's value for the details table."""
    match attribute.type:
        case ir.AttributeType.TENSOR:
            tensor: ir.TensorProtocol = attribute.value
            short = tensor.size <= MAX_NUMBERS and tensor.dtype != ir.DataType.STRING
            if short and not is_absent(tensor):
                return cut(str(tensor.numpy().tolist()))
            return f"{dtype_name(tensor.dtype)} {dims_text(tensor.shape)}"
        case ir.AttributeType.GRAPH:
            return f"graph of {counted(len(attribute.as_graph()), 'node')}"
        case ir.AttributeType.GRAPHS:
            return f"{len(attribute.as_graphs())} graphs"
        case ir.AttributeType.FLOAT:
            return number_text(float(attribute.value))
        case ir.AttributeType.STRING:
            return cut(str(attribute.value))
        case _:
            value: object = attribute.value
            is_listed = isinstance(value, tuple)
            return cut(str(list(cast("tuple[object, ...]", value)) if is_listed else value))


Brief = Callable[[ir.Node], str]


def brief(node: ir.Node) -> str:
    """The two attributes that identify a node, in as few characters as possible."""
    name = node.op_type
    if node.domain == LAYOUTS:  # the standard operator over another layout
        name = name.removeprefix(NHWC).removeprefix(BLOCKED)
    special = _BRIEFS.get(name)
    if special is not None:
        return special(node)
    axis = node.attributes.get("axis")
    if axis is not None and axis.type == ir.AttributeType.INT:
        return f"axis {number_text(axis.as_int())}"
    return ""


def _window(node: ir.Node) -> str:
    kernel = node.attributes.get_ints("kernel_shape", ())
    strides = node.attributes.get_ints("strides", ())
    if not kernel and len(node.inputs) > 1:
        tensor = constant_of(node.inputs[1])
        kernel = tensor.shape.numpy()[2:] if tensor is not None else ()
    parts = [dims_text(kernel)] if kernel else []
    if any(s != 1 for s in strides):
        parts.append(f"/{dims_text(strides if len(set(strides)) > 1 else set(strides))}")
    if (group := node.attributes.get_int("group", 1)) != 1:
        parts.append(f"g{group}")
    activation = node.attributes.get("activation")
    if activation is not None and activation.type == ir.AttributeType.STRING:
        parts.append(f"+ {activation.as_string()}")
    return " ".join(parts)


def _cast(node: ir.Node) -> str:
    target = node.attributes.get_int("to")
    return f"→ {dtype_name(ir.DataType(target))}" if target is not None else ""


def _operator_sign(sign: str) -> Brief:
    def text(node: ir.Node) -> str:
        for value in node.inputs:
            constant = scalar_text(value)
            if constant is not None:
                return f"{sign} {constant}"
        return ""

    return text


def _second_input(before: str) -> Brief:
    def text(node: ir.Node) -> str:
        target = vector_text(node.inputs[1]) if len(node.inputs) > 1 else None
        return f"{before} {target}" if target is not None else ""

    return text


def _axes(node: ir.Node) -> str:
    axes = node.attributes.get_ints("axes", ())
    if axes:
        return "axes " + ", ".join(map(number_text, axes))
    return _second_input("axes")(node)


def _gather(node: ir.Node) -> str:
    index = scalar_text(node.inputs[1]) if len(node.inputs) > 1 else None
    return f"[{index}]" if index is not None else f"axis {node.attributes.get_int('axis', 0)}"


def _clip(node: ir.Node) -> str:
    bounds = [scalar_text(v) for v in node.inputs[1:3]]
    named = (node.attributes.get_float(name) for name in ("min", "max"))
    bounds += [number_text(bound) for bound in named if bound is not None]
    return "…".join(b if b is not None else "" for b in bounds) if bounds else ""


def _perm(node: ir.Node) -> str:
    return ", ".join(map(str, node.attributes.get_ints("perm", ())))


def _gemm(node: ir.Node) -> str:
    flags = [f"{name[-1]}ᵀ" for name in ("transA", "transB") if node.attributes.get_int(name)]
    activation = node.attributes.get_string("activation")
    return " ".join(flags if activation is None else [*flags, f"+ {activation}"])


def _named(sign: str, name: str) -> Brief:
    def text(node: ir.Node) -> str:
        number = node.attributes.get_float(name)
        return f"{sign} {number_text(number)}" if number is not None else ""

    return text


def _formats(node: ir.Node) -> str:
    attributes = (node.attributes.get(name) for name in ("src_format", "dst_format"))
    return " → ".join(
        a.as_string() if a is not None and a.type == ir.AttributeType.STRING else "?"
        for a in attributes
    )


def _quantization(node: ir.Node) -> str:
    """One scale and zero point, or how many scales there are along which axis."""
    scale, *zero = node.inputs[1:3] or (None,)
    if (number := scalar_text(scale)) is not None:
        offset = scalar_text(zero[0]) if zero else None
        return f"scale {number}" + (f", zp {offset}" if offset is not None else "")
    tensor = constant_of(scale)
    if tensor is None:
        return ""
    if block := _integer(node, "block_size", 0):
        return f"{dims_text(tensor.shape)} scales, blocks of {block}"
    return f"{tensor.size} scales, axis {number_text(_integer(node, 'axis', 1))}"


def _bits(node: ir.Node) -> str:
    bits, block = _integer(node, "bits", 4), _integer(node, "block_size", 0)
    return f"{bits} bits, blocks of {block}" if block else f"{bits} bits"


def _integer(node: ir.Node, name: str, default: int) -> int:
    """Also of operators that nobody has checked."""
    attribute = node.attributes.get(name)
    if attribute is None or attribute.type != ir.AttributeType.INT:
        return default
    return attribute.as_int()


_WINDOWED = (
    "Conv ConvTranspose MaxPool AveragePool LpPool FusedConv NhwcConv ConvInteger QLinearConv"
)
_AXES = (
    "Squeeze Unsqueeze ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2"
    " ReduceLogSum ReduceLogSumExp ReduceSumSquare"
)
_ARITHMETIC = {"Add": "+", "Sub": MINUS, "Mul": TIMES, "Div": "÷", "Pow": "^", "Mod": "mod"}
_SIGNS = {**_ARITHMETIC, "Equal": "=", "Greater": ">", "Less": "<"}
_BRIEFS: dict[str, Brief] = {
    **dict.fromkeys(_WINDOWED.split(), _window),
    **dict.fromkeys(_AXES.split(), _axes),
    "Transpose": _perm,
    "Cast": _cast,
    "Gather": _gather,
    "Clip": _clip,
    "Gemm": _gemm,
    "FusedGemm": _gemm,
    **dict.fromkeys(("BatchNormalization", "InstanceNormalization"), _named("ε", "epsilon")),
    **dict.fromkeys(("LeakyRelu", "Elu"), _named("α", "alpha")),
    **{name: _operator_sign(sign) for name, sign in _SIGNS.items()},
    **dict.fromkeys(("TransData", "TransDataBack"), _formats),
    **dict.fromkeys(("QuantizeLinear", "DequantizeLinear"), _quantization),
    **dict.fromkeys(("MatMulNBits", "GatherBlockQuantized"), _bits),
    "Reshape": _second_input("→"),
    "Expand": _second_input("→"),
    "Tile": _second_input(TIMES),
}
