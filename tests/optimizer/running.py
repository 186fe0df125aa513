"""Runs test graphs on ONNX Runtime with its own optimizations off, in this process.

Only for graphs the tests make themselves: a stranger's model belongs into a worker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import onnx
import onnxruntime as ort

Feeds = Mapping[str, np.ndarray]
SIZES: Mapping[str, int] = {"N": 2, "M": 3, "S": 3, "batch": 2, "seq": 5, "W": 8}
OTHER_SIZE = 4


def run(proto: onnx.ModelProto, feeds: Feeds) -> list[np.ndarray]:
    """The outputs of a model, in order."""
    options = cast("Any", ort.SessionOptions())
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = ort.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    outputs = cast("list[Any]", session.run(None, dict(feeds)))
    return [np.asarray(output) for output in outputs]


def feeds_for(proto: onnx.ModelProto, *, sizes: Mapping[str, int] = SIZES, seed: int = 0) -> Feeds:
    """Small random data for every input that is not an initializer."""
    generator = np.random.default_rng(seed)
    fixed = {tensor.name for tensor in proto.graph.initializer}
    return {
        value.name: _random(value.type.tensor_type, sizes, generator)
        for value in proto.graph.input
        if value.name not in fixed
    }


def _random(kind: Any, sizes: Mapping[str, int], generator: np.random.Generator) -> np.ndarray:
    shape = tuple(
        dim.dim_value if dim.HasField("dim_value") else sizes.get(dim.dim_param, OTHER_SIZE)
        for dim in kind.shape.dim
    )
    dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
    if dtype == np.bool_:
        return generator.integers(0, 2, shape).astype(dtype)
    if np.issubdtype(dtype, np.integer):
        return generator.integers(1, 4, shape).astype(dtype)
    return generator.normal(size=shape).astype(dtype)


def differences(
    before: Sequence[np.ndarray], after: Sequence[np.ndarray], *, exact: bool, lossy: bool = False
) -> list[str]:
    """What differs between two lists of outputs, for people; [] when nothing does."""
    found: list[str] = []
    for index, (a, b) in enumerate(zip(before, after, strict=True)):
        if a.shape != b.shape or a.dtype != b.dtype:
            found.append(f"output {index}: {a.dtype}{a.shape} became {b.dtype}{b.shape}")
        elif exact and a.tobytes() != b.tobytes():
            found.append(f"output {index}: {a.ravel()[:8]} became {b.ravel()[:8]}")
        elif not exact and not _close(a, b, 0.33 if lossy else 1e-4):
            worst = np.max(np.abs(a.astype(np.float64) - b.astype(np.float64)))
            found.append(f"output {index}: differs by {worst}")
    return found


def _close(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    if not np.issubdtype(a.dtype, np.floating):
        return bool(np.array_equal(a, b))
    scale = float(np.max(np.abs(a), initial=1.0, where=np.isfinite(a)))
    tolerance = max(tolerance, 1e-2) if a.dtype == np.float16 else tolerance
    return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True))
