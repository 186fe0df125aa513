"""Which integers this processor multiplies fast: its flags, and a small measured check."""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from optimizer.isolation import Isolate
from optimizer.precision.quantization import Code
from profiling.processor import flags

_DOT_PRODUCTS: Mapping[str, str] = {
    "amx_int8": "AMX", "avx512_vnni": "AVX-512 VNNI", "avx_vnni": "AVX VNNI",
    "i8mm": "int8 matrix products", "asimddp": "dot products",
}  # fmt: skip
"""Flags of /proc/cpuinfo for sums of products of 8-bit integers in 32 bits, the widest first."""
_VECTORS = ("avx512bw", "avx2")
"""Without those, two products are added up in 16 bits, where 8-bit weights overflow."""
_ROWS, _INNER = 64, 512
_ROUNDS = 9


@dataclass(frozen=True, slots=True)
class FastIntegers:
    """What activations and weights are best quantized to here.

    Attributes:
        activations: their integers.
        weight_bits: of int8 weights that are used.
        because: one sentence.
        certain: whether the processor said so.
    """

    activations: Code
    weight_bits: int
    because: str
    certain: bool


def fast_integers(known: Collection[str] | None = None) -> FastIntegers:
    """The types that ONNX Runtime has fast kernels for on a processor with these flags.

    Args:
        known: as `flags` gives them; None for this processor's.
    """
    found = flags() if known is None else known
    name = next((text for flag, text in _DOT_PRODUCTS.items() if flag in found), None)
    if name is not None:
        return FastIntegers("uint8", 8, f"This processor has {name}.", certain=True)
    if any(flag in found for flag in _VECTORS):
        because = (
            "This processor adds two products in 16 bits: weights take 7 bits, so that none "
            "overflows."
        )
        return FastIntegers("uint8", 7, because, certain=True)
    because = (
        f"What this processor ({platform.machine() or 'unknown'}) multiplies fast is not known: "
        "uint8 with int8 is the pair that most have kernels for."
    )
    return FastIntegers("uint8", 8, because, certain=False)


def speeds(isolate: Isolate) -> Mapping[Code, float]:
    """How many times as fast as float32 a product with int8 weights is here, for both activations.

    Takes a tenth of a second in a worker.

    Raises:
        RunError: the runtime cannot run one of them.
    """
    return isolate(_measured)


def _measured() -> dict[Code, float]:
    codes: Sequence[Code] = ("uint8", "int8")
    runs = {"float32": _runner(None), **{code: _runner(code) for code in codes}}
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(_ROUNDS):
        for name, run in runs.items():
            began = time.process_time()
            run()
            times[name].append(time.process_time() - began)
    middle = {name: statistics.median(found) for name, found in times.items()}
    return {code: middle["float32"] / max(middle[code], 1e-9) for code in codes}


def _runner(code: Code | None) -> Any:
    """Runs a product of 64 rows, ready and warm."""
    import onnxruntime as ort

    generator = np.random.default_rng(0)
    dtype = np.dtype(code or "float32")
    rows = generator.integers(1, 100, (_ROWS, _INNER)).astype(dtype)
    weights = generator.integers(-100, 100, (_INNER, _INNER))
    scale, zero = np.float32(0.01), np.zeros((), dtype)
    constants = {"w": weights.astype(np.float32 if code is None else np.int8)}
    inputs = ["x", "w"]
    if code is not None:
        constants |= {"s": np.asarray(scale), "z": zero, "wz": np.zeros((), np.int8)}
        inputs = ["x", "s", "z", "w", "s", "wz", "s", "z"]
    node = helper.make_node("MatMul" if code is None else "QLinearMatMul", inputs, ["y"])
    kind = {None: TensorProto.FLOAT, "uint8": TensorProto.UINT8, "int8": TensorProto.INT8}[code]
    graph = helper.make_graph(
        [node],
        "product",
        [helper.make_tensor_value_info("x", kind, rows.shape)],
        [helper.make_tensor_value_info("y", kind, None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = cast("Any", ort.SessionOptions())
    options.intra_op_num_threads = 1
    session: Any = ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )

    def run() -> None:
        session.run(None, {"x": rows})

    run()
    return run
