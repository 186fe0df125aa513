"""Random small graphs made of the patterns that passes look for.

A `Sketch` grows by patterns (`random_patterns`), each on values that are already there. Every
choice goes through one function, so hypothesis can drive it, and shrink it, as well as a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import onnx
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from optimizer.model.signatures import RUNTIME_OPSETS
from tests.optimizer.older_forms import Form, NotInOpset, form

Pick = Callable[[Sequence[Any]], Any]
Shape = tuple[int | str, ...]
FLOAT, HALF, INT, BOOL = (
    int(TensorProto.FLOAT),
    int(TensorProto.FLOAT16),
    int(TensorProto.INT64),
    int(TensorProto.BOOL),
)
NEWEST = RUNTIME_OPSETS[""]
"""The highest opset that ONNX Runtime takes."""
INPUTS: Sequence[tuple[int, Shape]] = (
    (FLOAT, ("N", 3, 4)),
    (FLOAT, ("N", "S", 8)),
    (FLOAT, (1, 4, 6, 6)),
    (FLOAT, (2, 3)),
    (HALF, (3, "S")),
    (INT, (2, 3)),
)


@dataclass(frozen=True, slots=True)
class Wire:
    """A value: its name, element type and shape; symbols stand for sizes."""

    name: str
    dtype: int
    shape: Shape

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)


class Sketch:
    """A graph under construction. Patterns speak opset 18; nodes are written as `opset` asks."""

    def __init__(self, pick: Pick, *, opset: int = 18) -> None:
        self.pick = pick
        self.opset = opset
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.inputs: list[Wire] = []
        self.wires: list[Wire] = []
        self.domains: dict[str, int] = {"": opset}
        self._numbers: dict[str, np.ndarray] = {}
        self._names = 0

    def name(self, base: str) -> str:
        """A name that is not used yet."""
        self._names += 1
        return f"{base}{self._names}"

    def flip(self) -> bool:
        """True or False."""
        return self.pick((False, True))

    def input(self, dtype: int, shape: Shape) -> Wire:
        """A graph input of this type, made at the first call."""
        for wire in self.inputs:
            if (wire.dtype, wire.shape) == (dtype, shape):
                return wire
        wire = Wire(self.name("x"), dtype, shape)
        self.inputs.append(wire)
        self.wires.append(wire)
        return wire

    def some(self, condition: Callable[[Wire], bool] = lambda _: True) -> Wire | None:
        """One of the values there are that fits; late ones are as likely as early ones."""
        fitting = [wire for wire in self.wires if condition(wire)]
        return self.pick(fitting) if fitting else None

    def constant(self, array: np.ndarray) -> Wire:
        """An initializer or a Constant node; not among the values patterns pick."""
        name = self.name("c")
        self._numbers[name] = array
        tensor = numpy_helper.from_array(array, name)
        if self.flip():
            self.initializers.append(tensor)
        else:
            self.nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        return Wire(name, tensor.data_type, array.shape)

    def ints(self, *numbers: int) -> Wire:
        """A constant int64 vector."""
        return self.constant(np.array(numbers, dtype=np.int64))

    def node(
        self,
        op_type: str,
        inputs: Sequence[Wire | None],
        shape: Shape,
        *,
        dtype: int | None = None,
        **attributes: object,
    ) -> Wire:
        """Add a node with one output; a missing type is the first input's."""
        (wire,) = self.split_node(op_type, inputs, [shape], dtype=dtype, **attributes)
        return wire

    def split_node(
        self,
        op_type: str,
        inputs: Sequence[Wire | None],
        shapes: Sequence[Shape],
        *,
        dtype: int | None = None,
        **attributes: object,
    ) -> list[Wire]:
        """Add a node with several outputs.

        Raises:
            NotInOpset: the opset has no such node.
        """
        first = next(wire for wire in inputs if wire is not None)
        kind = first.dtype if dtype is None else dtype
        outputs = [Wire(self.name("v"), kind, shape) for shape in shapes]
        names = [wire.name if wire is not None else "" for wire in inputs]
        written = form(op_type, Form(names, attributes), self.opset, self._numbers)
        made = helper.make_node(
            op_type,
            written.operands,
            [wire.name for wire in outputs],
            name=self.name(op_type) if self.flip() else None,
            **written.attributes,
        )
        self.nodes.append(made)
        self.wires.extend(outputs)
        return outputs

    def model(self) -> onnx.ModelProto:
        """The graph with its last value and up to two others as outputs."""
        made = [wire for wire in self.wires if wire not in self.inputs]
        outputs = dict.fromkeys([made[-1], self.pick(made), self.pick(made)])
        graph = helper.make_graph(
            self.nodes,
            "random",
            [helper.make_tensor_value_info(w.name, w.dtype, w.shape) for w in self.inputs],
            [helper.make_tensor_value_info(w.name, w.dtype, [None] * w.rank) for w in outputs],
            self.initializers,
        )
        opsets = [helper.make_opsetid(*entry) for entry in self.domains.items()]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)


Pattern = Callable[[Sketch], Wire | None]
Growth = Callable[[Sketch], Sequence[Pattern]]


def sketched(pick: Pick, growth: Growth, opsets: Sequence[int] = (18,)) -> onnx.ModelProto:
    """A graph of one of the opsets, of the patterns that `growth` names; others are left out."""
    sketch = Sketch(pick, opset=pick(opsets))
    for dtype, shape in (pick(INPUTS), pick(INPUTS)):
        sketch.input(dtype, shape)
    for pattern in growth(sketch):
        with suppress(NotInOpset):
            pattern(sketch)
    if all(wire in sketch.inputs for wire in sketch.wires):
        first = sketch.wires[0]
        sketch.node("Identity", [first], first.shape)
    return sketch.model()


def some_of(patterns: Sequence[Pattern], *, size: int = 8) -> Growth:
    """One to `size` of the patterns."""

    def grow(sketch: Sketch) -> list[Pattern]:
        return [sketch.pick(patterns) for _ in range(sketch.pick(range(1, size + 1)))]

    return grow


def models(growth: Growth, opsets: Sequence[int] = (18,)) -> st.SearchStrategy[onnx.ModelProto]:
    """Hypothesis drives the choices."""

    @st.composite
    def draw_model(draw: st.DrawFn) -> onnx.ModelProto:
        def pick(options: Sequence[Any]) -> Any:
            return options[draw(st.integers(0, len(options) - 1))]

        return sketched(pick, growth, opsets)

    return draw_model()


def seeded(seed: int, patterns: Sequence[Pattern]) -> onnx.ModelProto:
    """A seed drives the choices."""
    return sketched(Random(seed).choice, some_of(patterns))
