"""One generated kernel as a model of its own, and as the loops that it was made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from optimizer.fusion.algorithm import algorithm_of
from optimizer.loops.building import NotGenerated
from optimizer.loops.evaluation import evaluate
from optimizer.model.generated_functions import VERSION, KernelBody, TensorSignature, kernel_bodies
from optimizer.operators.generated import GENERATED
from optimizer.verify.sizes import evaluate as number_of

Arrays = Mapping[str, NDArray[Any]]
Opinion = Callable[[Arrays], Arrays]
"""What the outputs are, for these inputs."""

_NOTHING: Mapping[int, ir.TensorProtocol] = MappingProxyType({})
_IR_VERSION = 10
"""Since which functions have metadata."""


def call_of(
    body: KernelBody,
    *,
    sizes: Mapping[str, int] | None = None,
    constants: Mapping[int, ir.TensorProtocol] = _NOTHING,
) -> ir.Model:
    """A model that calls a kernel once; inputs are named as the function's, outputs `y0`, `y1`.

    Args:
        body: the kernel.
        sizes: numbers for its free sizes; without them the model has them, too.
        constants: inputs that are weights, by their place.
    """
    signature = body.signature
    names = [value.name or "" for value in body.inputs]
    values = [_value(name, told, sizes) for name, told in zip(names, signature.inputs, strict=True)]
    for place, tensor in constants.items():
        values[place].const_value = tensor
    made = [_value(f"y{place}", told, sizes) for place, told in enumerate(signature.outputs)]
    node = ir.Node(GENERATED, body.name, values, outputs=made, name=body.name)
    graph = ir.Graph(
        [value for place, value in enumerate(values) if place not in constants],
        made,
        nodes=[node],
        initializers=[values[place] for place in constants],
        opset_imports={**body.function.opset_imports, GENERATED: VERSION},
        name=body.name,
    )
    return ir.Model(
        graph, ir_version=_IR_VERSION, functions=[body.function], producer_name="passlens"
    )


def body_in(path: Path) -> KernelBody:
    """The kernel of a file that has one."""
    (body,) = kernel_bodies(path).values()
    return body


def told_contents(body: KernelBody, sizes: Mapping[str, int]) -> dict[str, NDArray[Any]]:
    """What a kernel takes for granted of its integer inputs, such as the sizes of a shape.

    Args:
        body: the kernel.
        sizes: numbers for its free sizes.
    """
    found: dict[str, NDArray[Any]] = {}
    for value, told in zip(body.inputs, body.signature.inputs, strict=True):
        numbers = [number_of(one, sizes) for one in told.content or () if one != ""]
        shape = [number_of(dim, sizes) for dim in told.shape]
        whole = told.content is not None and len(numbers) == len(told.content)
        if whole and None not in numbers and None not in shape:
            dtype = ir.DataType[told.dtype].numpy()
            found[value.name or ""] = np.array(numbers, dtype).reshape([n or 0 for n in shape])
    return found


def loops_of(path: Path) -> Opinion | None:
    """What the loops of a file's only kernel give, evaluated; None where there are none."""
    body = body_in(path)
    try:
        algorithm = algorithm_of(body.nodes, body.inputs, body.outputs, body.known, body.opset)
    except NotGenerated:
        return None
    names = [value.name or "" for value in body.inputs]

    def outputs(inputs: Arrays) -> Arrays:
        found = evaluate(algorithm, [inputs[name] for name in names])
        return {f"y{place}": array for place, array in enumerate(found)}

    return outputs


def _value(name: str, told: TensorSignature, sizes: Mapping[str, int] | None) -> ir.Value:
    shape = told.shape if sizes is None else [_size(dim, sizes) for dim in told.shape]
    return ir.Value(name=name, type=ir.TensorType(ir.DataType[told.dtype]), shape=ir.Shape(shape))


def _size(dim: int | str, sizes: Mapping[str, int]) -> int | str:
    found = number_of(dim, sizes)
    return dim if found is None else found
