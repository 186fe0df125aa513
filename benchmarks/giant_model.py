"""A model of the shape of Llama-7B with 13.5 GB of external float16 weights, as a sparse file.

32 blocks of attention with rotary embedding and a gated feed-forward, written as the TorchScript
exporter writes them, without shape arithmetic. Every tensor has a mark of its own in its data file
and is a hole otherwise: the file takes some megabytes of disk.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import onnx
from onnx import TensorProto, helper

MARK = 14
"""Bytes of the text that tells a tensor from all others, at its beginning."""

HALF = TensorProto.FLOAT16


@dataclass(frozen=True, slots=True)
class Size:
    """How large the network is."""

    blocks: int = 32
    hidden: int = 4096
    heads: int = 32
    inner: int = 11008
    words: int = 32000


LLAMA_7B = Size()


@dataclass(slots=True)
class _Network:
    size: Size
    location: str
    nodes: list[onnx.NodeProto] = field(default_factory=list[onnx.NodeProto])
    tensors: list[onnx.TensorProto] = field(default_factory=list[onnx.TensorProto])
    end: int = 0

    def op(self, kind: str, inputs: list[str], path: str, **attributes: int | list[int]) -> str:
        name = f"{path}/{kind}_{len(self.nodes)}"
        node = onnx.NodeProto(op_type=kind, input=inputs, output=[f"{name}_out"], name=name)
        node.attribute.extend(
            helper.make_attribute(key, value) for key, value in attributes.items()
        )
        self.nodes.append(node)
        return f"{name}_out"

    def weight(self, name: str, *dims: int) -> str:
        """Another tensor in the data file."""
        tensor = TensorProto(name=name, data_type=HALF, dims=dims)
        length = 2
        for dim in dims:
            length *= dim
        tensor.data_location = TensorProto.EXTERNAL
        entries = {"location": self.location, "offset": self.end, "length": length}
        for key, value in entries.items():
            tensor.external_data.add(key=key, value=str(value))
        self.tensors.append(tensor)
        self.end = -(-(self.end + length) // 4096) * 4096
        return name

    def constant(self, name: str, value: float) -> str:
        """A number in the model file."""
        self.tensors.append(helper.make_tensor(name, HALF, [], [value]))
        return name

    def numbers(self, name: str, *values: int) -> str:
        """Whole numbers in the model file."""
        self.tensors.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
        return name

    def norm(self, x: str, path: str) -> str:
        """Root mean square normalization, written out, with a cast that casts nothing."""
        x = self.op("Cast", [x], path, to=HALF)
        square = self.op("Pow", [x, "two"], path)
        mean = self.op("ReduceMean", [square], path, axes=[-1], keepdims=1)
        root = self.op("Sqrt", [self.op("Add", [mean, "epsilon"], path)], path)
        scaled = self.op("Div", [x, root], path)
        return self.op("Mul", [self.weight(f"{path}.weight", self.size.hidden), scaled], path)

    def heads(self, x: str, path: str) -> str:
        size = self.size
        weight = self.weight(f"{path}.weight", size.hidden, size.hidden)
        split = self.op("Reshape", [self.op("MatMul", [x, weight], path), "heads"], path)
        return self.op("Transpose", [split], path, perm=[0, 2, 1, 3])

    def rotated(self, x: str, path: str) -> str:
        """Rotary embedding."""
        low, high = f"{path}.low", f"{path}.high"
        node = onnx.NodeProto(op_type="Split", input=[x], output=[low, high], name=f"{path}.split")
        node.attribute.append(helper.make_attribute("axis", -1))
        self.nodes.append(node)
        turned = self.op("Concat", [self.op("Neg", [high], path), low], path, axis=-1)
        straight = self.op("Mul", [x, "cosine"], path)
        return self.op("Add", [straight, self.op("Mul", [turned, "sine"], path)], path)

    def attention(self, x: str, path: str) -> str:
        query = self.rotated(self.heads(x, f"{path}.q_proj"), f"{path}.q_proj")
        key = self.rotated(self.heads(x, f"{path}.k_proj"), f"{path}.k_proj")
        value = self.heads(x, f"{path}.v_proj")
        scores = self.op(
            "MatMul", [query, self.op("Transpose", [key], path, perm=[0, 1, 3, 2])], path
        )
        masked = self.op("Add", [self.op("Div", [scores, "root"], path), "mask"], path)
        mixed = self.op("MatMul", [self.op("Softmax", [masked], path, axis=-1), value], path)
        joined = self.op("Transpose", [mixed], path, perm=[0, 2, 1, 3])
        flat = self.op("Reshape", [joined, "flat"], path)
        weight = self.weight(f"{path}.o_proj.weight", self.size.hidden, self.size.hidden)
        return self.op("MatMul", [flat, weight], path)

    def feed_forward(self, x: str, path: str) -> str:
        hidden, inner = self.size.hidden, self.size.inner
        gate = self.op("MatMul", [x, self.weight(f"{path}.gate_proj.weight", hidden, inner)], path)
        up = self.op("MatMul", [x, self.weight(f"{path}.up_proj.weight", hidden, inner)], path)
        swish = self.op("Mul", [gate, self.op("Sigmoid", [gate], path)], path)
        down = self.weight(f"{path}.down_proj.weight", inner, hidden)
        return self.op("MatMul", [self.op("Mul", [swish, up], path), down], path)


def write_giant(path: Path, size: Size = LLAMA_7B) -> Path:
    """Write the model, and its data file `<name>.data` beside it.

    Returns: the path of the model.
    """
    net = _Network(size, f"{path.name}.data")
    net.constant("two", 2.0)
    net.constant("epsilon", 1e-5)
    wide = size.hidden // size.heads
    net.constant("root", wide**0.5)
    net.numbers("heads", 0, 0, size.heads, wide)
    net.numbers("flat", 0, 0, size.hidden)
    x = net.op("Gather", [net.weight("embed.weight", size.words, size.hidden), "tokens"], "embed")
    for number in range(size.blocks):
        path_of = f"layers.{number}"
        normed = net.norm(x, f"{path_of}.input_norm")
        x = net.op("Add", [x, net.attention(normed, f"{path_of}.attention")], path_of)
        normed = net.norm(x, f"{path_of}.post_norm")
        x = net.op("Add", [x, net.feed_forward(normed, f"{path_of}.mlp")], path_of)
    head = net.weight("head.weight", size.hidden, size.words)
    net.op("MatMul", [net.norm(x, "norm"), head], "head")
    _save(net, path, wide)
    return path


def _save(net: _Network, path: Path, wide: int) -> None:
    info = helper.make_tensor_value_info
    inputs = [
        info("tokens", TensorProto.INT64, ["batch", "length"]),
        info("cosine", HALF, [1, 1, "length", wide]),
        info("sine", HALF, [1, 1, "length", wide]),
        info("mask", HALF, ["batch", 1, "length", "length"]),
    ]
    logits = info(net.nodes[-1].output[0], HALF, ["batch", "length", net.size.words])
    graph = helper.make_graph(net.nodes, path.stem, inputs, [logits], net.tensors)
    imports = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    path.write_bytes(model.SerializeToString())
    with path.with_name(net.location).open("wb") as data:
        for number, tensor in enumerate(net.tensors):
            entries = {entry.key: entry.value for entry in tensor.external_data}
            if entries:
                data.seek(int(entries["offset"]))
                data.write(f"tensor {number:06d}.".encode())
        data.truncate(net.end)
