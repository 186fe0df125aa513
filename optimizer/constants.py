"""What never changes: initializers that nobody can override, and Constant nodes; what they hold."""

from __future__ import annotations

import hashlib
from typing import NoReturn, cast

import numpy as np
import onnx_ir as ir

from optimizer.errors import ExternalDataRefused, quoted

_CACHE = "constant"


def is_constant_node(node: ir.Node | None) -> bool:
    """Whether `node` is ONNX's own Constant operator."""
    return node is not None and node.op_type == "Constant" and not node.domain


def constant_of(value: ir.Value | None) -> ir.TensorProtocol | None:
    """The tensor behind a value that never changes: an initializer or a Constant node's output.

    An initializer that is also a graph input is a default which the caller may override.
    """
    if value is None:
        return None
    if value.is_initializer():
        tensor = None if value.is_graph_input() else value.const_value
    else:
        node = value.producer()
        tensor = constant_tensor(node) if node is not None and is_constant_node(node) else None
    return None if is_absent(tensor) else tensor


def constant_tensor(node: ir.Node) -> ir.TensorProtocol | None:
    """What a Constant node holds, whichever of its attributes holds it; computed once a node."""
    known = cast("ir.TensorProtocol | None", node.meta.get(_CACHE))
    if known is None:
        known = node.meta[_CACHE] = _tensor(node)
    return known


def _tensor(node: ir.Node) -> ir.TensorProtocol | None:
    for name, attribute in node.attributes.items():
        if attribute.is_ref():
            return None
        if name == "value" and attribute.type == ir.AttributeType.TENSOR:
            return attribute.value  # `as_tensor` checks a protocol, which takes 0.1 ms
        if name in ("value_int", "value_ints"):
            return ir.Tensor(np.array(attribute.value, np.int64))
        if name in ("value_float", "value_floats"):
            return ir.Tensor(np.array(attribute.value, np.float32))
    return None


class AbsentTensor(ir.LazyTensor):
    """What stands in a graph that can be looked at, and nothing more.

    Whoever asks for a constant's values must ask `is_absent` first: else they get
    `ExternalDataRefused`.
    """

    def __init__(self, tensor: ir.ExternalTensor) -> None:
        location = f"{tensor.location}"

        def refuse() -> NoReturn:
            raise ExternalDataRefused(f"The data file {quoted(location)} is not there.")

        super().__init__(
            refuse, dtype=tensor.dtype, shape=ir.Shape(tensor.shape), name=tensor.name or ""
        )


def is_absent(tensor: ir.TensorProtocol | None) -> bool:
    """Whether a tensor has no values to read."""
    return isinstance(tensor, AbsentTensor)


SAMPLE_BYTES = 1024
_SAMPLE, _DIGEST = "passlens.sample", "passlens.digest"

Fingerprint = tuple[str, tuple[int, ...], bytes]


def fingerprint(tensor: ir.TensorProtocol) -> Fingerprint:
    """Element type, shape and a sample of the bytes; equal tensors have equal fingerprints.

    The sample is all there is of a tensor of up to `SAMPLE_BYTES`.
    """
    sample = tensor.meta.get(_SAMPLE)
    if sample is None:
        sample = tensor.meta[_SAMPLE] = _sample(tensor)
    return tensor.dtype.name, tuple(tensor.shape.numpy()), sample


def same_content(a: ir.TensorProtocol, b: ir.TensorProtocol) -> bool:
    """Whether two tensors agree in element type, shape and every bit."""
    if a is b:
        return True
    if a.dtype != b.dtype or a.size != b.size or fingerprint(a) != fingerprint(b):
        return False
    return _whole(a) or digest(a) == digest(b)


def digest(tensor: ir.TensorProtocol) -> bytes:
    """sha256 of all bytes; computed once."""
    known = tensor.meta.get(_DIGEST)
    if known is None:
        known = tensor.meta[_DIGEST] = hashlib.sha256(_bytes(tensor).data).digest()
    return known


def _whole(tensor: ir.TensorProtocol) -> bool:
    return tensor.dtype == ir.DataType.STRING or tensor.nbytes <= SAMPLE_BYTES


def _sample(tensor: ir.TensorProtocol) -> bytes:
    if tensor.dtype == ir.DataType.STRING:
        return repr([*tensor.numpy().reshape(-1)]).encode()
    data = _bytes(tensor)
    if _whole(tensor) or data.size <= SAMPLE_BYTES:
        return data.tobytes()
    step, part = data.size // 4, SAMPLE_BYTES // 4
    return b"".join(data[start : start + part].tobytes() for start in range(0, step * 4, step))


def _bytes(tensor: ir.TensorProtocol) -> np.ndarray:
    """The elements in memory, as uint8[...]; a view where the data allows it."""
    return np.ascontiguousarray(tensor.numpy()).reshape(-1).view(np.uint8)
