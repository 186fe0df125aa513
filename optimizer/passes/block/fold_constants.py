"""Constant folding."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import onnx_ir as ir

from optimizer.constants import is_constant_node
from optimizer.folding.evaluate import FOLDED, Blocked, Evaluation, Evaluator, data_inputs
from optimizer.limits import MIB
from optimizer.model.graph import is_used, readers
from optimizer.numbers import bytes_text
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    Outcome,
    Replacement,
    transposition,
)
from optimizer.stored import MAPPED_BYTES
from optimizer.transposed_tensor import TransposedTensor, solid

_FOLDED = frozenset(FOLDED)

MOST_NODES = 256
"""Nodes of one expression that is folded in one step."""


@dataclass(slots=True)
class _Expressions:
    """What is known about constant expressions in this round.

    Attributes:
        sizes: nodes in the expression that ends at a node, itself included; 0 when not constant.
        blocked: why a node cannot be folded although its inputs are constant; empty where another
            node says so already.
    """

    sizes: dict[ir.Node, int] = field(default_factory=dict[ir.Node, int])
    blocked: dict[ir.Node, str] = field(default_factory=dict[ir.Node, str])


@register
class FoldConstants(Pass):
    """Compute constant expressions.

    What it does:
        Nodes whose inputs are all constant are computed once, here, and replaced by an
        initializer. A whole expression goes in one step: only where something that is not
        constant needs a result is there an initializer. A large weight that is only transposed is
        not copied before the model is written. Results that would make the file larger
        by more than `growth_mib` stay unfolded; so does DequantizeLinear, which would undo the
        model's compression.
    Before:
        [768, 64] → Transpose → MatMul
    After:
        [64, 768] → MatMul
    When it is safe:
        The operators have no side effects and draw no random numbers. Initializers that are also
        graph inputs are defaults, not constants. An integer division by zero, a cast that
        overflows, an index out of range stay for the runtime to report. Results that exceed the
        limits on folding stay unfolded.
    Numerics:
        Bit-identical for integers, booleans and data movement. Floating-point functions come from
        numpy and may differ from the runtime's in the last bit.
    Source:
        ONNX operator specification and reference implementation.

    Attributes:
        growth_mib: the most one folded result may add to the file.
    """

    id = "fold-constants"
    exactness = "reassociates"
    order = 10
    memory_is_cache = True

    growth_mib: int = 4

    @rule(*FOLDED, name="ConstantExpression")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Fold the constant expression that this node is part of."""
        known = _known(context)
        if not _size(node, known, context):
            reason = known.blocked.get(node)
            return Declined(reason) if reason else None
        end = _end(node, known, context)
        if context.opset() < 7 or not any(map(is_used, end.outputs)):
            return None
        nodes = _expression(end, known)
        try:
            results = self._evaluate(nodes, [end], context)
            reason = self._charge(end, nodes, results, context)
            return _replacement([end], nodes, results, reason, context)
        except Blocked as blocked:
            return self._around(end, nodes, blocked, known, context)

    def _evaluate(
        self, nodes: list[ir.Node], wanted: list[ir.Node], context: Context
    ) -> Evaluation:
        limits = context.limits
        evaluator = Evaluator(context.tensor, context.opset(), limits.fold_output_bytes)
        if context.budget.seconds <= 0:
            reason = f"Folding has used its {limits.fold_seconds:.0f} s; the rest is left unfolded."
            raise Blocked(nodes[-1], reason)
        began = time.thread_time()
        try:
            return evaluator.run(nodes, wanted)
        finally:
            context.budget.seconds -= time.thread_time() - began

    def _charge(
        self,
        node: ir.Node,
        nodes: list[ir.Node],
        results: Evaluation,
        context: Context,
    ) -> str:
        """Take the result off the budget; the reason for the replacement.

        Raises:
            Blocked: the file would grow too much.
        """
        freed = _freed(nodes, context)
        growth = results.sizes[node] - freed
        if growth > self.growth_mib * MIB:
            raise Blocked(
                node,
                f"{node.op_type} was left unfolded: its result would add {bytes_text(growth)} "
                f"to the file (limit {self.growth_mib} MiB, option growth_mib).",
                others=[n for n in nodes if results.sizes[n] - freed > self.growth_mib * MIB],
            )
        if growth > context.budget.bytes_left:
            limit = bytes_text(context.limits.fold_total_bytes)
            raise Blocked(
                node,
                f"{node.op_type} was left unfolded: folding has added {limit}, the limit.",
            )
        context.budget.bytes_left -= max(growth, 0)
        what = f"{len(nodes)} nodes compute" if len(nodes) > 1 else f"{node.op_type} computes"
        array = next(results.values[value] for value in node.outputs if value in results.values)
        shape = "×".join(str(size) for size in array.shape) or "a scalar"
        return f"All inputs are constant: {what} {shape} of {array.dtype}."

    def _around(
        self,
        root: ir.Node,
        nodes: list[ir.Node],
        blocked: Blocked,
        known: _Expressions,
        context: Context,
    ) -> Outcome:
        """Fold what can be folded of an expression in which one node cannot."""
        known.blocked.update(dict.fromkeys(blocked.others, ""))
        known.blocked[blocked.node] = str(blocked)
        known.sizes.clear()
        known.sizes.update(dict.fromkeys(known.blocked, 0))
        frontier = [
            node
            for node in nodes
            if _size(node, known, context) and _is_frontier(node, known, context)
        ]
        if not frontier:
            return Declined(str(blocked), () if blocked.node is root else (blocked.node,))
        inside = list(dict.fromkeys(n for end in frontier for n in _expression(end, known)))
        try:
            results = self._evaluate(inside, frontier, context)
            for end in frontier:
                self._charge(end, _expression(end, known), results, context)
        except Blocked as other:
            return self._around(root, nodes, other, known, context)
        reason = "All inputs are constant; what uses the results cannot be folded."
        return _replacement(frontier, inside, results, reason, context)


def _known(context: Context) -> _Expressions:
    known = context.memory.get(_Expressions)
    if known is None:
        known = context.memory[_Expressions] = _Expressions()
    return cast(_Expressions, known)


def _is_constant(value: ir.Value) -> bool:
    """Whether the value is data already, not an expression."""
    return value.is_initializer() and not value.is_graph_input()


def _size(root: ir.Node, known: _Expressions, context: Context) -> int:
    """Number of nodes in the constant expression ending at `root`; 0 when it is not constant."""
    sizes = known.sizes
    found = sizes.get(root)
    if found is not None:
        return found
    stack = [root]
    while stack:
        node = stack[-1]
        total = 0 if node in sizes or not _foldable(node, context) else 1
        for value in data_inputs(node) if total else ():
            if value is None or _is_constant(value):
                continue
            producer = value.producer()
            if producer is not None and is_constant_node(producer):  # a body may read one outside
                total = total if context.tensor(value) is not None else 0
            elif producer is None or producer.graph is not node.graph:
                total = 0
            elif (inner := sizes.get(producer)) is None and producer.op_type in _FOLDED:
                stack.append(producer)
                total = -1
            else:
                total = min(total + inner, MOST_NODES) if inner else 0
            if total <= 0:
                break
        if total >= 0:
            stack.pop()
            sizes.setdefault(node, total)
    return sizes[root]


def _foldable(node: ir.Node, context: Context) -> bool:
    return not node.domain and node.op_type in _FOLDED and len(node.inputs) > 0


def _end(node: ir.Node, known: _Expressions, context: Context) -> ir.Node:
    """The last node of the constant expression that `node` is part of, or one of them.

    Asking about any of its nodes must do: the last one may be far from what has changed.
    """
    while _size(node, known, context) < MOST_NODES and not _is_frontier(node, known, context):
        following = next((reader for value in node.outputs for reader in readers(value)), None)
        if following is None:
            break
        node = following
    return node


def _is_frontier(node: ir.Node, known: _Expressions, context: Context) -> bool:
    """Whether something that is not constant needs a result of this node."""
    for value in node.outputs:
        if value.is_graph_output():
            return True
        for use in value.uses():
            if use.node.graph is not node.graph or not _size(use.node, known, context):
                return True
    return False


def _expression(end: ir.Node, known: _Expressions) -> list[ir.Node]:
    """The nodes of the expression, producers first."""
    done: dict[ir.Node, None] = {}
    stack = [end]
    while stack:
        node = stack[-1]
        producers = (
            v.producer() for v in data_inputs(node) if v is not None and not _is_constant(v)
        )
        missing = [p for p in producers if p is not None and p not in done and known.sizes.get(p)]
        if missing and node not in done:
            stack.extend(missing)
        else:
            done[stack.pop()] = None
    return list(done)


def _freed(nodes: list[ir.Node], context: Context) -> int:
    """Bytes of the constants that nothing else uses."""
    inside = set(nodes)
    constants = {
        value
        for node in nodes
        for value in data_inputs(node)
        if value is not None
        and context.is_constant(value)
        and all(reader in inside for reader in readers(value))
    }
    return sum(tensor.nbytes for value in constants if (tensor := context.tensor(value)))


def _replacement(
    ends: list[ir.Node],
    nodes: Iterable[ir.Node],
    results: Evaluation,
    reason: str,
    context: Context,
) -> Replacement:
    values = {
        value: NewInitializer(
            _tensor(node, results.values[value], context), value.name or node.op_type
        )
        for node in ends
        for value in node.outputs
        if is_used(value) and value in results.values
    }
    return Replacement(list(nodes), values, reason)


def _tensor(node: ir.Node, result: np.ndarray, context: Context) -> ir.TensorProtocol:
    """What a node makes; a large constant that is only transposed is not copied."""
    if node.op_type == "Transpose" and result.nbytes >= MAPPED_BYTES:
        source, perm = context.tensor(node.inputs[0]), transposition(node, context)
        packed = source is not None and source.dtype.bitwidth < 8
        if source is not None and perm is not None and not packed:
            return TransposedTensor(source, perm)
    return ir.Tensor(result if result.flags.c_contiguous else solid(result))
