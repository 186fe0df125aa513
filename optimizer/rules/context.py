"""What a rule may ask about the graph around its node. Read-only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import numpy as np
import onnx
import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.isolation import Isolate
from optimizer.limits import Limits
from optimizer.model.graph import use_count
from optimizer.operators.call import in_numbers
from optimizer.operators.catalogue import is_random

if TYPE_CHECKING:
    from optimizer.model.symbolic import SymbolicValues


@dataclass(slots=True)
class FoldBudget:
    """What constant folding may still spend in this run."""

    bytes_left: int
    seconds: float = 5.0


@dataclass(slots=True)
class Context:
    """The questions a rule may ask.

    Attributes:
        opsets: operator set versions by domain.
        limits: the bounds in force.
        symbolic: small integer tensors known as numbers and symbols.
        budget: what constant folding may still spend.
        memory: private to the pass that runs; emptied before each round.
        analyses: of the graph, for whichever pass asks, by the function that made them; emptied
            before each round.
        precedes: whether the first node's outputs are computed before the second node and
            visible to it, also from inside a body.
        position: where a node stands in its graph's list; comparable within one graph only.
        scopes: a graph and the graphs around it, inside out.
        isolate: where foreign tools run; None where whoever drives has no worker processes.
        functions: the functions that the model has, by domain, name and overload.
    """

    opsets: Mapping[str, int]
    limits: Limits
    symbolic: SymbolicValues
    budget: FoldBudget
    memory: dict[object, object] = field(default_factory=dict[object, object])
    analyses: dict[object, object] = field(default_factory=dict[object, object])
    precedes: Callable[[ir.Node, ir.Node], bool] = lambda first, second: False
    position: Callable[[ir.Node], float] = lambda node: 0.0
    scopes: Callable[[ir.Graph], Iterable[ir.Graph]] = lambda graph: (graph,)
    isolate: Isolate | None = None
    functions: Mapping[ir.OperatorIdentifier, ir.Function] = field(
        default_factory=dict[ir.OperatorIdentifier, ir.Function]
    )

    def forget(self) -> None:
        """Another pass begins, or another round: the graph is not what it was."""
        self.memory.clear()
        self.analyses.clear()

    def opset(self, domain: str = "") -> int:
        """The version of an operator set; 0 when the model does not import it."""
        return self.opsets.get(domain, 0)

    def tensor(self, value: ir.Value | None) -> ir.TensorProtocol | None:
        """The data behind a constant: an initializer nobody can override, or a Constant node."""
        return constant_of(value)

    def array(self, value: ir.Value | None) -> np.ndarray | None:
        """`tensor` as numpy data; None for strings and for what is not constant."""
        tensor = self.tensor(value)
        if tensor is None or tensor.dtype == ir.DataType.STRING:
            return None
        return tensor.numpy()

    def scalar(self, value: ir.Value | None) -> float | int | bool | None:
        """The single element of a constant; None when it has another size."""
        tensor = self.tensor(value)
        if tensor is None or tensor.size != 1 or tensor.dtype == ir.DataType.STRING:
            return None
        return tensor.numpy().item()

    def ints(self, value: ir.Value | None) -> list[int] | None:
        """A small constant integer tensor as a flat list."""
        tensor = self.tensor(value)
        if tensor is None or tensor.size > 1024 or not tensor.dtype.is_integer():
            return None
        return [int(x) for x in tensor.numpy().reshape(-1)]

    def is_constant(self, value: ir.Value | None) -> bool:
        """Whether `tensor` would answer."""
        return constant_of(value) is not None

    def single_use(self, value: ir.Value) -> bool:
        """Whether exactly one input in the whole model reads the value, and no graph output."""
        return use_count(value) == 1 and not value.is_graph_output()

    def rank(self, value: ir.Value | None) -> int | None:
        """Number of dimensions, if known."""
        shape = self.symbolic.shape(value)
        return None if shape is None else len(shape)

    def dims(self, value: ir.Value | None) -> tuple[int, ...] | None:
        """The shape when every dimension is a known number."""
        return in_numbers(self.symbolic.shape(value))

    def same_shape(self, a: ir.Value | None, b: ir.Value | None) -> bool:
        """Whether two shapes are certainly equal, for every size of the inputs."""
        shape = self.symbolic.shape(a)
        return shape is not None and shape == self.symbolic.shape(b)

    def attribute(self, node: ir.Node, name: str) -> object:
        """An attribute's plain value, or the default of the operator's schema, or None.

        Integers, floats, strings and lists of them come as Python values.
        """
        attribute = node.attributes.data.get(name)  # of the dict itself: `get` is slow
        if attribute is not None:
            return attribute.value
        return _defaults(node.domain, node.op_type, self.opset(node.domain)).get(name)

    def parameter(self, node: ir.Node, name: str, index: int) -> list[int] | None:
        """Integers that newer versions of an operator take as an input, older ones as attribute.

        Returns: None where they are neither given, nor the operator's default, nor known.
        """
        return (
            self.ints(given(node, index)) if len(node.inputs) > index else self.integers(node, name)
        )

    def integers(self, node: ir.Node, name: str) -> list[int] | None:
        """An attribute that is a list; None where it is not set and the operator has no default."""
        found = self.attribute(node, name)
        return [*cast("list[int]", found)] if isinstance(found, list | tuple) else None

    def number(self, node: ir.Node, name: str) -> float:
        """A float attribute; the operator's default where it is not set."""
        value = self.attribute(node, name)
        assert isinstance(value, float), f"{node.op_type} has a number {name}"
        return value

    def deterministic(self, node: ir.Node) -> bool:
        """Whether two runs of a node on the same inputs give the same outputs."""
        return not is_random(node)


def operator_of(node: ir.Node) -> str:
    """A node's operator as rules name it."""
    domain = node.domain
    return f"{domain}::{node.op_type}" if domain else node.op_type


def given(node: ir.Node, index: int) -> ir.Value | None:
    """An input that may be left out."""
    return node.inputs[index] if index < len(node.inputs) else None


def producer_of(value: ir.Value | None, *operators: str) -> ir.Node | None:
    """The node that makes `value`, if it is one of these operators of ONNX's own."""
    node = None if value is None else value.producer()
    return node if node is not None and not node.domain and node.op_type in operators else None


def transposition(node: ir.Node, context: Context) -> list[int] | None:
    """The permutation of a Transpose, by default the axes reversed; None where even that varies."""
    perm, shape = context.integers(node, "perm"), context.symbolic.shape(node.inputs[0])
    return [*range(len(shape))][::-1] if perm is None and shape is not None else perm


@lru_cache(maxsize=4096)
def _defaults(domain: str, op_type: str, version: int) -> Mapping[str, object]:
    """Default attribute values from the operator's schema."""
    try:
        schema = onnx.defs.get_schema(op_type, max(version, 1), domain)
    except onnx.defs.SchemaError:
        return {}
    return {
        name: onnx.helper.get_attribute_value(attribute.default_value)
        for name, attribute in schema.attributes.items()
        if attribute.default_value.name
    }
