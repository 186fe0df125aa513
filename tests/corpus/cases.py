"""What the hostile corpus is made of: the registry of cases, and builders of small models.

A case is one function that writes `model.onnx`, and whatever lies beside it, into an empty folder.
It states what a careful tool does with the model:

* `reject`  refuse it with a sentence, quickly;
* `view`    show it, or refuse it by a limit, but never fold or run it unguarded;
* `run`     it is legal: load, show, optimize and run it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
import onnx
from numpy.typing import ArrayLike
from onnx import helper, numpy_helper

Expect = Literal["reject", "view", "run"]
Write = Callable[[Path], None]

FLOAT = onnx.TensorProto.FLOAT
INT32 = onnx.TensorProto.INT32
INT64 = onnx.TensorProto.INT64
BOOL = onnx.TensorProto.BOOL
STRING = onnx.TensorProto.STRING
UINT8 = onnx.TensorProto.UINT8
OPSET, IR_VERSION = 17, 8


@dataclass(frozen=True, slots=True)
class Case:
    """One entry of the corpus."""

    name: str
    family: str
    expect: Expect
    write: Write


CASES: dict[str, Case] = {}


def case(family: str, expect: Expect) -> Callable[[Write], Write]:
    """Register the decorated function as the case that bears its name."""

    def register(write: Write) -> Write:
        name = write.__name__
        CASES[name] = Case(name, family, expect, write)
        return write

    return register


def value(
    name: str, shape: Sequence[int | str] | None = (1, 4), dtype: int = FLOAT
) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


def model(
    nodes: Iterable[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto] | None = None,
    outputs: Sequence[onnx.ValueInfoProto] | None = None,
    initializers: Iterable[onnx.TensorProto] = (),
    *,
    opset: int = OPSET,
    ir_version: int = IR_VERSION,
    domains: Iterable[str] = (),
    functions: Iterable[onnx.FunctionProto] = (),
) -> onnx.ModelProto:
    """Assemble a model without any check."""
    graph = helper.make_graph(
        list(nodes),
        "g",
        [value("x")] if inputs is None else inputs,
        [value("y")] if outputs is None else outputs,
        list(initializers),
    )
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    return helper.make_model(
        graph, opset_imports=imports, ir_version=ir_version, functions=list(functions)
    )


def relu_model(name: str = "relu") -> onnx.ModelProto:
    return model([helper.make_node("Relu", ["x"], ["y"], name=name)])


def const(name: str, array: ArrayLike) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(array), name)


def i64(name: str, *values: int) -> onnx.TensorProto:
    return const(name, np.array(values, np.int64))


def save(folder: Path, proto: onnx.ModelProto | bytes) -> None:
    data = proto if isinstance(proto, bytes) else proto.SerializeToString()
    (folder / "model.onnx").write_bytes(data)


def bomb(
    folder: Path,
    node: onnx.NodeProto | Sequence[onnx.NodeProto],
    *initializers: onnx.TensorProto,
    rank: int = 1,
    dtype: int = FLOAT,
    opset: int = OPSET,
    domains: Sequence[str] = (),
) -> None:
    """A graph without inputs, whose only work is to build something enormous."""
    nodes = [node] if isinstance(node, onnx.NodeProto) else list(node)
    output = value("y", [f"d{i}" for i in range(rank)], dtype)
    save(folder, model(nodes, [], [output], initializers, opset=opset, domains=domains))


def varint(number: int) -> bytes:
    """A number as protobuf writes it, for what the Python API refuses to write."""
    out = bytearray()
    number &= (1 << 64) - 1
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def field(number: int, payload: bytes | str | int) -> bytes:
    """One field as protobuf writes it."""
    if isinstance(payload, int):
        return varint(number << 3) + varint(payload)
    if isinstance(payload, str):
        payload = payload.encode()
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def raw_model(graph: bytes) -> bytes:
    """A model around a graph that is already in wire format."""
    return field(1, IR_VERSION) + field(7, graph) + field(8, field(1, "") + field(2, OPSET))


def relu_chain(count: int) -> bytes:
    """A chain of `count` Relu nodes, written straight to the wire."""
    names = [b"x", *(b"v%d" % i for i in range(count - 1)), b"y"]
    nodes = bytearray()
    for before, after in pairwise(names):
        node = b"\x0a%c%b\x12%c%b\x22\x04Relu" % (len(before), before, len(after), after)
        nodes += b"\x0a%c%b" % (len(node), node)
    ends = field(11, value("x").SerializeToString()) + field(12, value("y").SerializeToString())
    return raw_model(bytes(nodes) + field(2, "g") + ends)
