"""ONNX Runtime's memory of a run on the CPU, modelled: the block it plans, byte for byte.

The runtime traces its first run: whatever gets memory of its own, and when it is given back. From
the second run on, with inputs of the same shapes, one block holds all of it, laid out by the
planner "runtime-pattern" in the order of the lifetimes here. Not in the block: inputs and outputs,
which are the caller's; weights; text, sequences and optionals; what a kernel needs only while it
runs; what a body needs, which has a block of its own. Source: ONNX Runtime 1.31, execution_frame.cc
and mem_pattern_planner.h.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import onnx_ir as ir

from benchmarks.runtime_block.plan import StaticPlan, static_plan
from optimizer.errors import PlanError, quoted
from optimizer.memory.arena import Arena, Lifetime, UnknownSize
from optimizer.memory.sizes import KnownSizes
from optimizer.model.graph import graph_id, node_id, value_id
from optimizer.runtime.graph import RuntimeNode, runtime_nodes
from optimizer.runtime.order import in_order

ALIGNMENT = 256
"""To which the runtime rounds up every size in its block, in bytes."""

_DEFINED_BY_OTHERS = frozenset(
    {
        "Bernoulli", "CenterCropPad", "GroupNormalization", "HardSwish", "Mish",
        "NegativeLogLikelihoodLoss", "SequenceMap", "SoftmaxCrossEntropyLoss", "Swish",
    }
)  # fmt: skip
"""Operators without a kernel on the CPU, which give way to the nodes of their definition."""

_SEQUENCES = frozenset(
    {
        "Optional", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert",
        "SequenceMap", "SplitToSequence",
    }
)  # fmt: skip


def runtime_lifetimes(
    graph: ir.Graph,
    *,
    sizes: Mapping[str, int] | None = None,
    reuse: bool = True,
    order: Sequence[str] | None = None,
) -> Arena:
    """What ONNX Runtime keeps in its block of activations, none of its own rewrites applied.

    Args:
        graph: with ids, and with the shapes that the file declares: the runtime decides by them
            what may share memory, also where `sizes` would tell.
        sizes: of free dimensions, by name; bytes that depend on others are unknown.
        reuse: the session's `enable_mem_reuse`.
        order: ids of the nodes as they run; the runtime's default order without.

    Raises:
        PlanError: `order` is not one of the nodes that run, or the runtime runs other nodes.
    """
    known = runtime_nodes(graph)
    refuse_what_is_replaced(known)
    nodes = in_order(known) if order is None else _named(graph, known, order)
    model = _Model(graph, static_plan(graph, nodes, reuse=reuse), KnownSizes(graph, sizes))
    return Arena(
        graph=graph_id(graph),
        owner="",
        nodes=tuple(one.id for one in nodes),
        lifetimes=tuple(sorted(model.lifetimes(), key=lambda one: one.start)),
        unknown=tuple(model.unknown),
        bodies=(),
        alignment=ALIGNMENT,
    )


def refuse_what_is_replaced(nodes: Iterable[RuntimeNode]) -> None:
    """Say so where the runtime runs nodes that are not in the graph.

    Raises:
        PlanError: an operator has no kernel of its own, computes with float16, which may need
            casts, or is a DequantizeLinear with several readers.
    """
    for one in nodes:
        node, name = one.node, quoted(one.node.name or "")
        if node.op_type in _DEFINED_BY_OTHERS and not node.domain:
            raise PlanError(
                f"ONNX Runtime replaces {node.op_type} {name} by several nodes of its own; its "
                "memory is not modelled, measure it instead."
            )
        if node.op_type == "DequantizeLinear" and _readers(node.outputs[0]) > 1:
            raise PlanError(
                f"ONNX Runtime gives every reader of DequantizeLinear {name} one of its own; its "
                "memory is not modelled, measure it instead."
            )
        if not one.is_cast and any(value.dtype == ir.DataType.FLOAT16 for value in one.reads()):
            raise PlanError(
                f"ONNX Runtime may put casts around {node.op_type} {name}, which reads float16; "
                "its memory is not modelled, measure it instead."
            )


def _readers(value: ir.Value) -> int:
    return len(value.uses()) + value.is_graph_output()


def _named(
    graph: ir.Graph, nodes: Sequence[RuntimeNode], order: Sequence[str]
) -> tuple[RuntimeNode, ...]:
    """Nodes by their ids; those that do not run may be named too."""
    by_id = {one.id: one for one in nodes}
    known = {node_id(node) for node in graph}
    missing = next((name for name in order if name not in known), None)
    if missing is not None:
        raise PlanError(f"The order names {quoted(missing)}, which is no node of the graph.")
    found = tuple(by_id[name] for name in dict.fromkeys(order) if name in by_id)
    if len(found) != len(nodes):
        raise PlanError(f"The order has {len(found)} of the {len(nodes)} nodes that run.")
    return found


class _Model:
    def __init__(self, graph: ir.Graph, plan: StaticPlan, measure: KnownSizes) -> None:
        self.unknown: list[UnknownSize] = []
        self._graph = graph
        self._plan = plan
        self._measure = measure
        self._outputs = set(graph.outputs)
        self._values: dict[ir.Value, list[ir.Value]] = {}
        self._readers: dict[ir.Value, list[str]] = {}
        for value, home in plan.home.items():
            self._values.setdefault(home, []).append(value)
        for node in plan.nodes:
            for home in dict.fromkeys(plan.home.get(v, v) for v in node.reads()):
                self._readers.setdefault(home, []).append(node.id)

    def lifetimes(self) -> Iterator[Lifetime]:
        """Inputs, outputs, and each piece of the block, as they are made."""
        steps = len(self._plan.nodes)
        for value in self._graph.inputs:
            if value.name not in self._graph.initializers:
                yield from self._lifetime(value, "", 0, steps)
        for step, node in enumerate(self._plan.nodes):
            for value in node.outputs:
                if self._plan.home[value] is value:
                    end = self._plan.released.get(value, steps - 1) + 1
                    yield from self._lifetime(value, node.id, step, end)

    def _lifetime(self, value: ir.Value, node: str, start: int, end: int) -> Iterator[Lifetime]:
        """A piece of memory; none for what the block does not hold, a note for what is unknown."""
        if _is_elsewhere(value):
            return
        size = self._measure.size_bytes(value)
        region = "activations" if node and value not in self._outputs else "inputs and outputs"
        if size is None:
            why = self._measure.why(value)
            self.unknown.append(UnknownSize(value_id(value), value.name or "", why, region))
            return
        yield Lifetime(
            value=value_id(value),
            name=value.name or "",
            values=tuple(value_id(one) for one in self._values.get(value, [value])),
            node=node,
            readers=tuple(self._readers.get(value, ())),
            region=region,
            size_bytes=size,
            start=start,
            end=end,
            shape=self._measure.dims(value),
            dtype=value.dtype.name if value.dtype is not None else "",
        )


def _is_elsewhere(value: ir.Value) -> bool:
    """Whether a value is text, a sequence or an optional, which no block holds."""
    maker = value.producer()
    if value.type is None:
        return maker is not None and maker.op_type in _SEQUENCES
    return not isinstance(value.type, ir.TensorType) or value.type.dtype == ir.DataType.STRING
