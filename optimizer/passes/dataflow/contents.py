"""Whether two tensors hold the same data, asked of as few bytes as possible.

Weights may be large and memory-mapped: a sample of their bytes tells nearly all of them apart, and
only what agrees in the sample is read as a whole.
"""

from __future__ import annotations

import hashlib

import numpy as np
import onnx_ir as ir

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
