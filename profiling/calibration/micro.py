"""Micro models: one operator each, of a size that shows what its class can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray
from onnx_ir.tape import Tape

from optimizer.model.symbolic import SymbolicValues
from optimizer.operators.call import CONTRIB

OPSET = 17
_SEED = 20090401

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Micro:
    """One operator with its operands.

    Attributes:
        operator: of the standard domain, or of the runtime's own.
        inputs: shapes of float32 activations; the first of a Where is its condition.
        weights: shapes of float32 constants that follow them.
        integers: integer constants that follow those.
        attributes: of the node.
        outputs: how many it has.
        constant: every float32 element; None for random numbers between 0.5 and 1.5.
        purpose: what the time is for, where it is not the rate of its class.
    """

    operator: str
    inputs: tuple[Shape, ...]
    weights: tuple[Shape, ...] = ()
    integers: tuple[tuple[int, ...] | int, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    outputs: int = 1
    constant: float | None = None
    purpose: str = ""
    domain: str = ""


def model_of(micro: Micro) -> ir.Model:
    """The model, shapes of its outputs included."""
    inputs = [
        ir.val(f"x{index}", _type(micro, index), shape) for index, shape in enumerate(micro.inputs)
    ]
    tape = Tape()
    arrays: list[NDArray[Any]] = [numbers(shape, micro.constant) for shape in micro.weights]
    arrays += [np.asarray(one, np.int64) for one in micro.integers]
    operands = [*inputs, *(constant(tape, array) for array in arrays)]
    tape.op_multi_out(
        micro.operator, operands, micro.attributes,
        num_outputs=micro.outputs, domain=micro.domain, name="node",
    )  # fmt: skip
    return finished(inputs, tape)


def feeds_of(model: ir.Model) -> dict[str, NDArray[Any]]:
    """Something for every input."""
    feeds: dict[str, NDArray[Any]] = {}
    for value in model.graph.inputs:
        assert value.shape is not None
        assert value.dtype is not None
        drawn = numbers(tuple(dim for dim in value.shape if isinstance(dim, int)))
        feeds[value.name or ""] = drawn > 1 if value.dtype == ir.DataType.BOOL else drawn
    return feeds


def _type(micro: Micro, index: int) -> ir.DataType:
    condition = micro.operator == "Where" and index == 0
    return ir.DataType.BOOL if condition else ir.DataType.FLOAT


def finished(inputs: Sequence[ir.Value], tape: Tape) -> ir.Model:
    """A model with all names and shapes; what nobody reads is an output."""
    for number, node in enumerate(tape.nodes):
        for index, value in enumerate(node.outputs):
            value.name = f"y{number}_{index}"
    outputs = [value for node in tape.nodes for value in node.outputs if not value.uses()]
    constants, imports = tape.initializers, {"": OPSET, CONTRIB: 1}
    graph = ir.Graph(
        inputs, outputs, nodes=tape.nodes, initializers=constants, opset_imports=imports, name="g"
    )
    model = ir.Model(graph, ir_version=9)
    SymbolicValues(model).propagate(graph)
    return model


def constant(tape: Tape, array: NDArray[Any]) -> ir.Value:
    """A weight of its own."""
    return tape.initializer(ir.tensor(array, name=f"w{len(tape.initializers)}"))


def numbers(shape: Shape, one: float | None = None) -> NDArray[np.float32]:
    """Operands of ordinary size: what a processor does with tiny ones is another matter."""
    if one is not None:
        return np.full(shape, one, np.float32)
    drawn = np.random.default_rng(_SEED).random(shape, np.float32)
    return drawn + np.float32(0.5)
