"""A planted foreign tool: it crashes, hangs, answers garbage or breaks the model, as it is told."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir

from optimizer import registry
from optimizer.imported.steps import Tool, changes_by
from optimizer.registry import Change, GraphPass
from optimizer.rules.context import Context


def stages(model: bytes, options: Mapping[str, Any]) -> list[str]:
    """As many as it is told, one by default."""
    return [*options["how"]]


def run(model: bytes, stage: str, options: Mapping[str, Any]) -> bytes:
    """What it is told to do."""
    proto = onnx.ModelProto.FromString(model)
    answer = _BEHAVIOURS[stage](proto)
    return proto.SerializeToString() if answer is None else answer


def _crash(proto: onnx.ModelProto) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def _hang(proto: onnx.ModelProto) -> None:
    time.sleep(600)


def _hoard(proto: onnx.ModelProto) -> None:
    np.ones(1 << 40)


def _raise(proto: onnx.ModelProto) -> None:
    raise KeyError("no such tensor")


def _garbage(proto: onnx.ModelProto) -> bytes:
    return b"\x08\x07 no model at all"


def _nothing(proto: onnx.ModelProto) -> None:
    """Leave it as it is."""


def _shape(proto: onnx.ModelProto) -> None:
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 2


def _order(proto: onnx.ModelProto) -> None:
    outputs = [*proto.graph.output]
    del proto.graph.output[:]
    proto.graph.output.extend(reversed(outputs))


def _numbers(proto: onnx.ModelProto) -> None:
    for node in proto.graph.node:
        if node.op_type == "Tanh":
            node.op_type = "Sin"


def _bypass(proto: onnx.ModelProto) -> None:
    """Take every Identity out that makes no output."""
    outputs = {value.name for value in proto.graph.output}
    kept: list[onnx.NodeProto] = []
    instead: dict[str, str] = {}
    for node in proto.graph.node:
        node.input[:] = [instead.get(name, name) for name in node.input]
        if node.op_type == "Identity" and node.output[0] not in outputs:
            instead[node.output[0]] = node.input[0]
        else:
            kept.append(node)
    del proto.graph.node[:]
    proto.graph.node.extend(kept)


def _fuse(proto: onnx.ModelProto) -> None:
    """A MatMul and its Add become a Gemm, which stands at the end of the list where it may."""
    nodes = {node.output[0]: node for node in proto.graph.node}
    for node in [*proto.graph.node]:
        made = nodes.get(node.input[0]) if node.op_type == "Add" else None
        if made is not None and made.op_type == "MatMul":
            fused = onnx.helper.make_node("Gemm", [*made.input, node.input[1]], [*node.output])
            proto.graph.node.insert([*proto.graph.node].index(node), fused)
            proto.graph.node.remove(made)
            proto.graph.node.remove(node)


_BEHAVIOURS = {
    "crash": _crash,
    "hang": _hang,
    "hoard": _hoard,
    "raise": _raise,
    "garbage": _garbage,
    "nothing": _nothing,
    "shape": _shape,
    "order": _order,
    "numbers": _numbers,
    "bypass": _bypass,
    "fuse": _fuse,
}


@dataclass(frozen=True)
class PlantedTool(GraphPass):
    """Do as it is told.

    What it does:
        Nothing good.
    """

    id = "planted-tool"
    family = "imported"
    exactness = "reassociates"
    presets = ()

    how: tuple[str, ...] = ("nothing",)
    seconds: float = 30.0

    def changes(self, model: ir.Model, context: Context) -> Iterator[Change]:
        """Each word a step."""
        tool = Tool("Planted", __name__, (), {"how": self.how}, self.seconds)
        return changes_by(tool, model, context)


@contextmanager
def planted() -> Generator[type[PlantedTool]]:
    """The pass, registered for as long as this lasts."""
    registry.passes()
    registry.register(PlantedTool)
    try:
        yield PlantedTool
    finally:
        del registry._REGISTRY[PlantedTool.id]  # pyright: ignore[reportPrivateUsage] - nothing else ever leaves it
