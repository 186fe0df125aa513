"""`onnxruntime.quantization` on a file: a job for a worker, since it is foreign code.

It calibrates nothing here: ranges are ours, in the form in which it keeps its own.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np

from optimizer.errors import StudioError, quoted
from optimizer.precision.quantization import Code
from optimizer.precision.ranges import Row

MOST_BYTES = 1_800_000_000
"""Of a model: it is one file, and what is made of it, too."""
_OF_PRODUCTS = ("MatMul", "Gemm")
"""Dynamically, nothing else is faster than float."""


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """What is asked of it.

    Attributes:
        mode: whether ranges are known beforehand.
        ranges: for static.
        operators: types that it may take; none for all that it knows, or all that pay.
        nodes: names of those that it may take; none for all.
        activations: their integers.
        weight_bits: 8, or 7 where a processor adds two products in 16 bits.
    """

    mode: Literal["static", "dynamic"]
    ranges: tuple[Row, ...] = ()
    operators: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    activations: Code = "uint8"
    weight_bits: int = 8


def quantize_file(source: Path, target: Path, asked: ToolRequest) -> str:
    """Quantize a file; the job in the worker.

    Returns:
        The version of ONNX Runtime.

    Raises:
        StudioError: the tool fails, or the model is too large for it.
    """
    if source.stat().st_size > MOST_BYTES:
        raise StudioError("ONNX Runtime's tool was not run: it writes one file of less than 2 GiB.")
    # Dynamically it writes each Gemm as a MatMul of that name first, and then asks for names.
    tool: Any = import_module("onnxruntime.quantization")
    shared: dict[str, Any] = {
        "per_channel": True,
        "reduce_range": asked.weight_bits < 8,
        "weight_type": tool.QuantType.QInt8,
        "nodes_to_quantize": [*asked.nodes, *map("{}_MatMul".format, asked.nodes)],
        "extra_options": {"MatMulConstBOnly": True},
    }
    try:
        with _quiet():
            if asked.mode == "dynamic":
                operators = list(asked.operators or _OF_PRODUCTS)
                tool.quantize_dynamic(
                    str(source), str(target), op_types_to_quantize=operators, **shared
                )
            else:
                _statically(tool, source, target, asked, shared)
    except Exception as error:  # it raises whatever its parts do
        told = quoted(f"{type(error).__name__}: {error}", limit=160)[1:-1]
        raise StudioError(f"ONNX Runtime's tool fails: {told}") from error
    return str(import_module("onnxruntime").__version__)


def _statically(
    tool: Any, source: Path, target: Path, asked: ToolRequest, shared: dict[str, Any]
) -> None:
    types = {"uint8": tool.QuantType.QUInt8, "int8": tool.QuantType.QInt8}
    method: Any = import_module("onnxruntime.quantization.calibrate").CalibrationMethod
    ends = {name: (np.float32(low), np.float32(high)) for name, low, high in asked.ranges}
    kept = target.with_suffix(".ranges.json")
    tool.save_tensors_data(tool.TensorsData(method.MinMax, ends), kept, smooth_quant=False)
    tool.quantize_static(
        str(source),
        str(target),
        None,
        calibration_cache_path=str(kept),
        quant_format=tool.QuantFormat.QDQ,
        activation_type=types[asked.activations],
        op_types_to_quantize=list(asked.operators),
        **shared,
    )


@contextmanager
def _quiet() -> Generator[None]:
    """Without its advice to prepare the model, which has been done."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
