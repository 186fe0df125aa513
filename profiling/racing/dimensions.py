"""Dimensions of a model's inputs that a run may choose."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import onnx_ir as ir

from optimizer.dimension_text import names_in
from optimizer.errors import StudioError, quoted
from optimizer.isolation import Isolate
from optimizer.verify.feeds import Input
from optimizer.verify.runtime import NotRunnable, as_file
from optimizer.verify.sizes import Dim


def free_dimensions(inputs: Iterable[Input]) -> tuple[str, ...]:
    """Names of the sizes that the file leaves open, in the order in which the inputs name them."""
    texts = (dim for item in inputs for dim in item.shape if isinstance(dim, str))
    return tuple(dict.fromkeys(name for text in texts for name in names_in(text) or (text,)))


def inputs_of(model: bytes | Path, isolate: Isolate) -> tuple[Input, ...]:
    """What a model takes, as its file says.

    Raises:
        StudioError: the file cannot be read.
    """
    return isolate(read_inputs, model)


def check_dimension(name: str, inputs: Iterable[Input]) -> None:
    """Nothing, if `name` can be given different sizes.

    Raises:
        StudioError: it cannot; says what can, and what to do.
    """
    inputs = tuple(inputs)
    free = free_dimensions(inputs)
    if name in free:
        return
    if free:
        listed = ", ".join(quoted(other) for other in free)
        raise StudioError(f"There is no free dimension {quoted(name)}; this model has {listed}.")
    shapes = ", ".join(f"{quoted(item.name)} is {_shape_text(item)}" for item in inputs[:3])
    raise StudioError(
        f"All sizes are fixed in this file ({shapes or 'it has no inputs'}), so there is "
        "none to choose; export the model again with a named dynamic axis for the batch or the "
        "length."
    )


def read_inputs(model: bytes | Path) -> tuple[Input, ...]:
    """The worker's side of `inputs_of`; weights that are listed as inputs are left out."""
    try:
        graph = ir.load(as_file(model)).graph
    except Exception as error:  # whatever a malformed file leads to
        raise NotRunnable(f"The graph cannot be read: {quoted(str(error))}.") from error
    return tuple(
        Input(str(value.name), _type_text(value), _shape(value))
        for value in graph.inputs
        if value.name not in graph.initializers
    )


def _type_text(value: ir.Value) -> str:
    """The type under the runtime's name, for example `tensor(float)`."""
    if isinstance(value.type, ir.TensorType):
        return f"tensor({value.type.dtype.name.lower()})"
    return str(value.type)


def _shape(value: ir.Value) -> tuple[Dim, ...]:
    if value.shape is None:
        return ()
    return tuple(dim if isinstance(dim, int) else dim.value for dim in value.shape)


def _shape_text(item: Input) -> str:
    return "×".join("?" if dim is None else str(dim) for dim in item.shape) or "a scalar"
