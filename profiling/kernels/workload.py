"""What a block computes and on which sizes, in a form that is equal for equal work."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.passes.kernels.block import Block

_WRITTEN_OUT = 16
"""Constants of at most this many elements are part of the work: bounds, scales, axes."""

SizeOf = Mapping[str, "TensorSize"]
"""Sizes of values by name, as they were in a real run."""


@dataclass(frozen=True, slots=True)
class TensorSize:
    """Element type, by ONNX's name, and shape of one tensor."""

    dtype: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return "×".join(map(str, self.shape)) or "scalar"


@dataclass(frozen=True, slots=True)
class Workload:
    """A piece of work that one kernel, or a few, do.

    Attributes:
        key: SHA-256 of `canonical`, in hex; equal for equal work in any model.
        kind: of the block: `Conv`, `MatMul`, `Attention`, …
        title: for people: `Conv 3×3 64→64 + Relu on 1×64×56×56`.
        operators: types, in the order in which they run.
        inputs: sizes of what comes from other operators.
        canonical: operators, attributes, wiring and sizes as canonical JSON.
    """

    key: str
    kind: str
    title: str
    operators: tuple[str, ...]
    inputs: tuple[TensorSize, ...]
    canonical: str


def describe(block: Block, sizes: SizeOf, opsets: Mapping[str, int]) -> Workload | None:
    """The workload of a block; None where a size or a type is unknown."""
    found = [size_of(value, sizes) for value in (*block.inputs, block.output)]
    if any(size is None for size in found):
        return None
    inputs = block.inputs
    names = {value: f"v{index}" for index, value in enumerate(inputs)}
    made = [output for node in block.nodes for output in node.outputs]
    names.update({value: f"r{index}" for index, value in enumerate(made)})
    document = {
        "inputs": [_described(value, size) for value, size in zip(inputs, found, strict=False)],
        "nodes": [_node(node, names) for node in block.nodes],
        "opsets": {node.domain: opsets.get(node.domain, 0) for node in block.nodes},
    }
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
    free = [value for value in inputs if constant_of(value) is None]
    sized = tuple(size for value in free if (size := size_of(value, sizes)) is not None)
    return Workload(
        hashlib.sha256(canonical.encode()).hexdigest(),
        block.kind,
        _title(block, sized),
        tuple(node.op_type for node in block.nodes),
        sized,
        canonical,
    )


def size_of(value: ir.Value, sizes: SizeOf) -> TensorSize | None:
    """Type and shape of a value: of its constant, as it was run, or as the file says."""
    tensor = constant_of(value)
    if tensor is not None:
        return TensorSize(tensor.dtype.name, tuple(int(dim) for dim in tensor.shape.numpy()))
    if value.name is not None and value.name in sizes:
        return sizes[value.name]
    if not isinstance(value.type, ir.TensorType) or value.shape is None:
        return None
    dims = tuple(dim for dim in value.shape if isinstance(dim, int))
    return TensorSize(value.type.dtype.name, dims) if len(dims) == len(value.shape) else None


def _described(value: ir.Value, size: TensorSize | None) -> dict[str, Any]:
    assert size is not None
    tensor = constant_of(value)
    about: dict[str, Any] = {"dtype": size.dtype, "shape": list(size.shape)}
    if tensor is None:
        return about
    about["constant"] = True
    if tensor.size <= _WRITTEN_OUT or tensor.dtype.is_integer():
        about["sha256"] = hashlib.sha256(np.ascontiguousarray(tensor.numpy()).tobytes()).hexdigest()
    return about


def _node(node: ir.Node, names: Mapping[ir.Value, str]) -> dict[str, Any]:
    return {
        "operator": node.op_type,
        "domain": node.domain,
        "attributes": {name: _attribute(attribute) for name, attribute in node.attributes.items()},
        "inputs": ["" if value is None else names[value] for value in node.inputs],
        "outputs": len(node.outputs),
    }


def _attribute(attribute: ir.Attr) -> Any:
    if attribute.type == ir.AttributeType.TENSOR:
        tensor = attribute.as_tensor()
        return [tensor.dtype.name, list(tensor.shape.numpy()), tensor.tobytes().hex()]
    value: Any = attribute.value
    return list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value


def _title(block: Block, inputs: tuple[TensorSize, ...]) -> str:
    first = block.nodes[0]
    parts = [block.kind]
    weight = constant_of(first.inputs[1]) if len(first.inputs) > 1 else None
    if first.op_type == "Conv" and weight is not None:
        parts.append(_convolution(first, [int(dim) for dim in weight.shape.numpy()]))
    elif block.kind in ("MatMul", "Gemm") and weight is not None and len(weight.shape) == 2:
        rows, columns = (int(dim) for dim in weight.shape.numpy())
        flipped = first.op_type == "Gemm" and first.attributes.get_int("transB", 0)
        parts.append(f"{columns}→{rows}" if flipped else f"{rows}→{columns}")
    if block.kind != "Attention":
        parts += [f"+ {node.op_type}" for node in block.nodes[1:]]
    if inputs:
        parts.append(f"on {' and '.join(map(str, inputs[:2]))}")
    return " ".join(parts)


def _convolution(node: ir.Node, weight: list[int]) -> str:
    """The kernel's size, stride where there is one, channels, groups: `3×3 /2 64→128`."""
    groups = node.attributes.get_int("group", 1) or 1
    strides = node.attributes.get_ints("strides", [1]) or [1]
    text = "×".join(map(str, weight[2:]))
    if max(strides) > 1:
        text += f" /{max(strides)}"
    text += f" {weight[1] * groups}→{weight[0]}"
    if groups > 1:
        text += " depthwise" if groups == weight[0] else f" in {groups} groups"
    return text
