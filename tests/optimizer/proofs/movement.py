"""Single operators on ONNX Runtime: what is known is computed, what moves says from where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.optimizer.proofs.smt import Unsupported
from tests.optimizer.running import run

_FIRST_INPUT_MOVES = (
    "Compress", "DepthToSpace", "Expand", "Flatten", "Gather", "GatherElements", "GatherND",
    "Identity", "Pad", "Reshape", "Resize", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile",
    "Transpose", "Unsqueeze",
)  # fmt: skip
MOVING: Mapping[str, tuple[int, ...]] = {name: (0,) for name in _FIRST_INPUT_MOVES}
"""Operators whose results are elements of the inputs at these places, chosen by the others."""
NOWHERE = -1
"""The place of what is in no input."""


def computed(
    node: onnx.NodeProto, inputs: Sequence[np.ndarray | None], opsets: Mapping[str, int]
) -> list[np.ndarray]:
    """A node on known inputs.

    Raises:
        Unsupported: ONNX Runtime does not run it alone.
    """
    alone = onnx.NodeProto()
    alone.CopyFrom(node)
    named = {n: a for n, a in zip(node.input, inputs, strict=True) if n and a is not None}
    kinds = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in named.items()}
    values = [helper.make_tensor_value_info(n, kinds[n], a.shape) for n, a in named.items()]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    graph = helper.make_graph([alone], "alone", values, outputs)
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    try:
        found = iter(run(model, named))
    except Exception as error:
        raise Unsupported(f"{node.op_type} does not run alone") from error
    return [next(found) if name else np.zeros(0) for name in node.output]


def places(
    node: onnx.NodeProto,
    shapes: Sequence[tuple[int, ...] | None],
    known: Sequence[np.ndarray | None],
    opsets: Mapping[str, int],
) -> list[np.ndarray]:
    """For each output, from which element each of its elements comes.

    Args:
        node: an operator that moves elements.
        shapes: of the inputs that are moved, None for the others.
        known: the others.
        opsets: what the model imports.

    Returns:
        Places in all moved inputs one behind the other, int64, of each output.
    """
    if node.op_type == "Pad":  # what is put around comes from nowhere
        node, known = _padded_with(NOWHERE, node, known)
        shapes = [*shapes, *[None] * (len(known) - len(shapes))]
    try:
        return _counted(node, shapes, known, opsets, np.dtype(np.int64))
    except Unsupported:  # older kernels move floats alone
        return _counted(node, shapes, known, opsets, np.dtype(np.float32))


def _counted(
    node: onnx.NodeProto,
    shapes: Sequence[tuple[int, ...] | None],
    known: Sequence[np.ndarray | None],
    opsets: Mapping[str, int],
    dtype: np.dtype,
) -> list[np.ndarray]:
    numbered: list[np.ndarray | None] = []
    start = 0
    for shape, array in zip(shapes, known, strict=True):
        if shape is None:
            numbered.append(array)
            continue
        size = int(np.prod(shape))
        numbered.append(np.arange(start, start + size, dtype=dtype).reshape(shape))
        start += size
    return [at.astype(np.int64) for at in computed(node, numbered, opsets)]


def _padded_with(
    number: int, node: onnx.NodeProto, known: Sequence[np.ndarray | None]
) -> tuple[onnx.NodeProto, list[np.ndarray | None]]:
    """The same Pad with another constant."""
    made = onnx.NodeProto()
    made.CopyFrom(node)
    if len(known) < 2:
        kept = [one for one in node.attribute if one.name != "value"]
        del made.attribute[:]
        made.attribute.extend([*kept, helper.make_attribute("value", float(number))])
        return made, [*known]
    del made.input[:]
    made.input.extend([*node.input[:2], "nowhere", *node.input[3:]])
    return made, [*known[:2], np.array(number), *known[3:]]


def constant_of(tensor: TensorProto) -> np.ndarray:
    """A tensor of a file as an array."""
    return numpy_helper.to_array(tensor)
