"""All that ONNX Runtime's own tool quantizes, as one step."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np
import onnx_ir as ir

from optimizer.errors import Cancelled, StudioError
from optimizer.model.graph import bodies
from optimizer.model.writer import write
from optimizer.numbers import bytes_text, counted
from optimizer.precision.runtime_tool import ToolRequest, quantize_file
from optimizer.registry import ANY, Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    Operand,
    Outcome,
    Replacement,
)

_DOMAINS = ("", "com.microsoft", "ai.onnx.ml")
_ENDS_ON_INTEGERS = ("DequantizeLinear", "DynamicQuantizeLinear", "QuantizeLinear")


@register
class QuantizeByOnnxruntime(Pass):
    """Quantize by ONNX Runtime's own tool, in one step.

    What it does:
        The graph is handed to `onnxruntime.quantization` in a worker process, and what comes back
        takes its place, all in one step: of a foreign tool it is not known what it did first.
        `mode` static takes our table of ranges and puts pairs of QuantizeLinear and
        DequantizeLinear; dynamic finds ranges in every run. Weights have a scale a channel. To
        compare with: quantize-statically and quantize-matmul-dynamically do it node by node.
    Before:
        x → MatMul(w)
    After:
        x → DynamicQuantizeLinear → MatMulInteger(w) → Cast → Mul
    When it is safe:
        No node has a body, none calls a function of the model, nothing is quantized yet; the
        weights fit into one file. Whoever runs the pipeline has a worker process for it. No
        accuracy is promised.
    Numerics:
        8 bits for activations and weights, or 7 with `weight_bits`.
    Source:
        ONNX Runtime, onnxruntime.quantization.
    """

    id = "quantize-by-onnxruntime"
    exactness = "lossy"
    order = 70
    global_analysis = True

    mode: Literal["static", "dynamic"] = "dynamic"
    ranges: tuple[tuple[str, float, float], ...] = ()
    operators: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    activations: Literal["uint8", "int8"] = "uint8"
    weight_bits: int = 8

    @rule(ANY, name="WholeGraph")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The first node, for all."""
        graph = node.graph
        if not isinstance(graph, ir.Graph) or graph[0] is not node:
            return None
        if len(list(context.scopes(graph))) > 1:
            return None
        if any(one.op_type in _ENDS_ON_INTEGERS for one in graph):
            return None
        if any(one.domain not in _DOMAINS or any(bodies(one)) for one in graph):
            return Declined("The tool is not given models with bodies or functions of their own")
        if context.isolate is None:
            return Declined("The tool runs in a worker process, and there is none here")
        asked = ToolRequest(
            self.mode, tuple(self.ranges), tuple(self.operators), tuple(self.nodes),
            self.activations, self.weight_bits,
        )  # fmt: skip
        with TemporaryDirectory(prefix="passlens-quantized-") as folder:
            source, target = Path(folder) / "source.onnx", Path(folder) / "target.onnx"
            try:
                write(ir.Model(graph, ir_version=_IR_VERSION), source)
                version = context.isolate(quantize_file, source, target, asked)
            except Cancelled:
                raise
            except StudioError as error:
                return Declined(error.message)
            made = ir.load(target).graph
            known = {v.name: v for v in graph.inputs} | dict(graph.initializers)
            return _Recovered(graph, made, known).replacement(version)


_IR_VERSION = 10


@dataclass(frozen=True, slots=True)
class _Recovered:
    """A graph that another one was made of, matched by names.

    Attributes:
        source: as it is.
        made: by the tool.
        known: inputs and initializers of the source by name.
    """

    source: ir.Graph
    made: ir.Graph
    known: Mapping[str | None, ir.Value]

    def replacement(self, version: str) -> Outcome:
        """All nodes of one in place of all nodes of the other."""
        before = {_results(node): node for node in self.source}
        operands: dict[ir.Value, Operand] = {}
        nodes: list[NewNode] = []
        for node in self.made:
            inputs = [None if v is None else self._operand(v, operands) for v in node.inputs]
            twin = before.get(_results(node))
            new = NewNode(
                node.op_type, inputs, dict(node.attributes), node.domain, len(node.outputs),
                name=node.name,
                twin=twin if twin and twin.op_identifier() == node.op_identifier() else None,
            )  # fmt: skip
            nodes.append(new)
            operands |= {output: new.output(index) for index, output in enumerate(node.outputs)}
        taken = sum(map(_reads_integers, self.made))
        if not taken:
            return Declined("The tool found nothing to quantize")
        ends = zip(self.source.outputs, self.made.outputs, strict=True)
        values = {old: operands[new] for old, new in ends if new in operands}
        sizes = [_bytes(self.source.initializers.values()), _bytes(self.made.initializers.values())]
        reason = (
            f"ONNX Runtime {version} quantized {counted(taken, 'node')} of {len(before)}; "
            f"constants {bytes_text(sizes[0])} before, {bytes_text(sizes[1])} after."
        )
        return Replacement(tuple(self.source), values, reason, nodes, opsets=self._opsets())

    def _operand(self, value: ir.Value, operands: dict[ir.Value, Operand]) -> Operand:
        """What a value of the new graph is here: something new, or a value of the source."""
        if value not in operands:
            old, tensor = self.known.get(value.name), value.const_value
            kept = old is not None and (
                tensor is None or (old.const_value is not None and _same(tensor, old.const_value))
            )
            if old is not None and kept:
                operands[value] = old
            else:
                assert tensor is not None
                copied = np.array(tensor.numpy())  # the file goes
                operands[value] = NewInitializer.of(copied, value.name or "constant")
        return operands[value]

    def _opsets(self) -> dict[str, int]:
        made, own = self.made.opset_imports, self.source.opset_imports
        return {d: made[d] for d in own if d in made and made[d] != own[d]}


def _results(node: ir.Node) -> tuple[str, ...]:
    """Names of what a node makes: node names may be missing, these tell nodes apart."""
    return tuple(value.name or "" for value in node.outputs)


def _same(one: ir.TensorProtocol, other: ir.TensorProtocol) -> bool:
    return one.dtype == other.dtype and np.array_equal(one.numpy(), other.numpy())


def _reads_integers(node: ir.Node) -> bool:
    """Whether it is no end of integers itself, and reads the result of one."""
    makers = [None if value is None else value.producer() for value in node.inputs]
    return node.op_type not in _ENDS_ON_INTEGERS and any(
        maker is not None and maker.op_type in _ENDS_ON_INTEGERS and maker.outputs[0] is value
        for maker, value in zip(makers, node.inputs, strict=True)
    )


def _bytes(values: Collection[ir.Value]) -> int:
    return sum(v.const_value.nbytes for v in values if v.const_value is not None)
