"""Random regions of operators that have loops, on sizes that are known late, and what to feed them.

A region stays where runtimes agree: numbers do not grow beyond what float16 holds, are not divided
by what is nearly zero, and are compared, rounded or made whole only where no arithmetic was before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from hypothesis import assume
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from tests.optimizer.random_graphs import BOOL, FLOAT, HALF, INT, Pick, Shape, Sketch, Wire

INT32 = int(TensorProto.INT32)
SHAPES: Sequence[Shape] = (
    ("n",), (7,), ("n", "k"), ("n", 8), (5, "k"), (3, 37), (1, "k"), ("n", 1), (1,), (),
    ("n", 4, "k"), (2, 6, 5), (2, 1, 16), ("n", 3, 17), (0, 3), (2, "n", 3, 4),
)  # fmt: skip
TYPES = (FLOAT, FLOAT, FLOAT, HALF, INT, INT32, BOOL)
SIZES = (
    {"n": 5, "k": 7}, {"n": 0, "k": 3}, {"n": 1, "k": 1}, {"n": 3, "k": 0}, {"n": 2, "k": 67},
    {"n": 33, "k": 16},
)  # fmt: skip
"""One size is the usual one; the others are nothing, one, primes, and more than a vector."""
FLOATS, WHOLE = frozenset({FLOAT, HALF}), frozenset({INT, INT32})
_LARGEST = 500.0
_MANY = 70.0
"""At most so many elements along an axis: what a sum may grow by."""

Feeds = dict[str, np.ndarray[Any, Any]]
Step = Callable[["RegionSketch"], Any]


@dataclass(frozen=True, slots=True)
class Region:
    """A graph of which all nodes become one kernel, and what it is run on.

    Attributes:
        model: the graph.
        sizes: of its free sizes, one run each.
    """

    model: onnx.ModelProto
    sizes: tuple[dict[str, int], ...]

    def __repr__(self) -> str:
        """As text: what hypothesis shows of one that is wrong."""
        return f"{onnx.printer.to_text(self.model)}\non {self.sizes}"

    @property
    def constants(self) -> Feeds:
        """What a kernel may take as inputs, too."""
        nodes = [node for node in self.model.graph.node if node.op_type == "Constant"]
        found = {node.output[0]: node.attribute[0].t for node in nodes}
        found |= {one.name: one for one in self.model.graph.initializer}
        return {name: numpy_helper.to_array(tensor) for name, tensor in found.items()}

    def feeds(self, sizes: dict[str, int]) -> Feeds:
        """Small numbers for every input; whole ones and halves among the floats."""
        rng = np.random.default_rng(sum(sizes.values()))
        return {
            value.name: _drawn(value.type.tensor_type, sizes, rng)
            for value in self.model.graph.input
        }


def _drawn(kind: Any, sizes: dict[str, int], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    shape = [d.dim_value if d.HasField("dim_value") else sizes[d.dim_param] for d in kind.shape.dim]
    dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
    if dtype == np.bool_:
        return np.asarray(rng.integers(0, 2, shape)).astype(dtype)
    if kind.elem_type in WHOLE:
        return np.asarray(rng.integers(-4, 5, shape)).astype(dtype)
    return np.asarray(rng.integers(-12, 13, shape) / 4).astype(dtype)


class RegionSketch(Sketch):
    """A graph that knows how large numbers are, and which of them all runtimes have to the bit."""

    def __init__(self, pick: Pick, *, opset: int) -> None:
        super().__init__(pick, opset=opset)
        self.largest: dict[str, float] = {}
        self.exact: set[str] = set()
        self._opaque = 0

    def given(self, dtype: int, shape: Shape) -> Wire:
        """One more input."""
        wire = Wire(self.name("x"), dtype, shape)
        self.inputs.append(wire)
        self.wires.append(wire)
        return self.known(wire, 4.0, exact=True)

    def known(self, wire: Wire, largest: float, *, exact: bool) -> Wire:
        """Say of a value how large it is."""
        self.largest[wire.name] = largest
        if exact or wire.dtype not in FLOATS:
            self.exact.add(wire.name)
        return wire

    def made(
        self,
        op_type: str,
        inputs: Sequence[Wire | None],
        shape: Shape,
        largest: float,
        *,
        exact: bool = False,
        dtype: int | None = None,
        **attributes: object,
    ) -> Wire:
        """A node, and how large its result is."""
        made = self.node(op_type, inputs, shape, dtype=dtype, **attributes)
        return self.known(made, largest, exact=exact)

    def moved(
        self, op_type: str, inputs: Sequence[Wire | None], shape: Shape, **attributes: Any
    ) -> Wire:
        """A node that moves elements of its first input."""
        first = inputs[0]
        assert first is not None, "what it moves"
        made = self.node(op_type, inputs, shape, **attributes)
        return self.known(made, self.largest[first.name], exact=first.name in self.exact)

    def a(
        self, dtypes: frozenset[int] | None = None, *, below: float = _LARGEST, exact: bool = False
    ) -> Wire | None:
        """A value that fits."""
        return self.some(
            lambda wire: (
                (dtypes is None or wire.dtype in dtypes)
                and self.largest[wire.name] <= below
                and (not exact or wire.name in self.exact)
            )
        )

    def beside(self, x: Wire, *, below: float = _LARGEST) -> Wire | None:
        """A value of the same type that is broadcast with it."""
        return self.some(
            lambda wire: (
                wire.dtype == x.dtype
                and self.largest[wire.name] <= below
                and together(x.shape, wire.shape) is not None
            )
        )

    def number(self, value: float, dtype: int, shape: tuple[int, ...] = ()) -> Wire:
        """A constant of one number, or of several that grow from it."""
        array = value + np.arange(int(np.prod(shape)), dtype=np.float64).reshape(shape) / 4
        return self.constant(array.astype(helper.tensor_dtype_to_np_dtype(dtype)))

    def unknown(self) -> str:
        """A size that is equal to itself alone."""
        self._opaque += 1
        return f"u{self._opaque}"

    def some(self, condition: Callable[[Wire], bool] = lambda _: True) -> Wire | None:
        """One of the values there are that fits; every other time the latest."""
        fitting = [wire for wire in self.wires if condition(wire)]
        return self.pick(fitting if self.flip() else fitting[-1:]) if fitting else None

    def model(self) -> onnx.ModelProto:
        """The graph with what no node reads as outputs, the latest four of that."""
        read = {name for node in self.nodes for name in node.input}
        made = [wire for wire in self.wires if wire not in self.inputs]
        outputs = [wire for wire in made if wire.name not in read][-4:]
        graph = helper.make_graph(
            self.nodes,
            "random",
            [helper.make_tensor_value_info(w.name, w.dtype, w.shape) for w in self.inputs],
            [helper.make_tensor_value_info(w.name, w.dtype, [None] * w.rank) for w in outputs],
            self.initializers,
        )
        return helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10
        )


def together(one: Shape, other: Shape) -> Shape | None:
    """The shape of two tensors broadcast together; None where sizes may differ."""
    rank = max(len(one), len(other))
    pairs = zip((1,) * (rank - len(one)) + one, (1,) * (rank - len(other)) + other, strict=True)
    found: list[int | str] = []
    for a, b in pairs:
        if a != b and 1 not in (a, b):
            return None
        found.append(b if a == 1 else a)
    return tuple(found)


def regions(steps: Sequence[Step], *, most: int = 9, runs: int = 3) -> st.SearchStrategy[Region]:
    """One to three inputs, up to `most` nodes and a few more, the usual sizes and some others."""

    @st.composite
    def draw_region(draw: st.DrawFn) -> Region:
        # Choices of hypothesis' own make neighbours of what it had; here each is a fresh one.
        pick = draw(st.randoms(use_true_random=True)).choice
        sketch = RegionSketch(pick, opset=pick((20, 18, 22)))
        for _ in range(pick((1, 2, 3))):
            sketch.given(pick(TYPES), pick(SHAPES))
        wanted = pick(range(2, most + 1))
        for _ in range(4 * wanted):
            if len(sketch.wires) - len(sketch.inputs) < wanted:
                pick(steps)(sketch)
        assume(len(sketch.wires) > len(sketch.inputs))
        more = [pick(SIZES[1:]) for _ in range(runs - 1)]
        return Region(sketch.model(), (SIZES[0], *more))

    return draw_region()
