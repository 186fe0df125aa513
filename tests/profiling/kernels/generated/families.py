"""One case of each family of loops, as the function that the planner makes of it."""

from __future__ import annotations

from collections.abc import Mapping

import onnx

from benchmarks.kernel_families import generated
from benchmarks.kernel_models import KernelCase, cases
from optimizer.model.generated_functions import KernelBody, is_generated, kernel_body
from optimizer.model.writer import to_bytes
from profiling.kernels.generated.placed import PlacedKernel
from tests.profiling.kernels.generated.made import kernel_of

FREE: Mapping[str, Mapping[int, int | str]] = {
    "seven operators, 64×12544": {64: 3, 112: "n"},
    "softmax(scale·x + mask), 1×12×128×128, mild": {12: 2, 128: "n"},
    "RMSNorm, 32×512 with residual": {32: "n"},
    "residual + bias + LayerNorm, 64×768": {64: "n"},
    "rotary embedding, 8×32×64": {8: "h", 32: "n"},
    "SiLU·up, 32×1376": {32: "n", 1376: "k"},
    "bias + Gelu(erf), 64×3072": {64: "n"},
    "dequantize·x, 64×768": {64: "n", 768: "k"},
    "Transpose with arithmetic, 56×56×96 channels first": {56: "n"},
}
"""One case of each family, and which of its sizes become free, or smaller."""
CASES = {case.name: case for case in cases() if case.name in FREE}


def of_free_sizes(name: str) -> PlacedKernel:
    """The kernel of a case, its free sizes 6."""
    body = _lifted(CASES[name], FREE[name])
    told = {size for one in body.signature.inputs for size in one.shape if isinstance(size, str)}
    return kernel_of(body, **dict.fromkeys(sorted(told), 6))


def _lifted(case: KernelCase, renamed: Mapping[int, int | str]) -> KernelBody:
    model = onnx.load_model_from_string(case.model)
    for value in (*model.graph.input, *model.graph.output):
        for dim in value.type.tensor_type.shape.dim:
            new = renamed.get(dim.dim_value, dim.dim_value)
            if isinstance(new, str):
                dim.dim_param = new
            else:
                dim.dim_value = new
    changed = KernelCase(case.family, case.shape, model.SerializeToString())
    made = onnx.load_model_from_string(to_bytes(generated(changed)))
    (function,) = (one for one in made.functions if is_generated(one))
    return kernel_body(function)
