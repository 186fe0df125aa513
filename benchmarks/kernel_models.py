"""The nine families of loops that generated kernels are measured on, as small ONNX models.

Each is written as exporters write it. Its values flow through copies of it one after the other, so
that one run of a session takes far longer than calling it, which copies what it gives into new
arrays (`copies`); a kernel is generated for one copy, never across two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
from numpy.typing import NDArray

Weights = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class KernelCase:
    """One shape of a family.

    Attributes:
        family: which of the nine.
        shape: for people, with what sets this case apart from others of its shape.
        model: the file.
        copies: of it in a row, in one run.
        choices: inputs that are drawn from these numbers alone; others are standard normal.
    """

    family: str
    shape: str
    model: bytes
    copies: int = 1
    choices: Mapping[str, tuple[float, ...]] = field(default_factory=dict[str, tuple[float, ...]])

    @property
    def name(self) -> str:
        """Unique among the cases."""
        return f"{self.family}, {self.shape}"


def cases() -> tuple[KernelCase, ...]:
    """All of them, family by family."""
    return tuple(case for make in _FAMILIES for case in make())


def drawn(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    """Standard normal numbers, the same on every machine."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _model(text: str, weights: Weights | None = None) -> bytes:
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]>\n{text}')
    for name, array in (weights or {}).items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model.SerializeToString()


def _chain() -> list[KernelCase]:
    text = """seven_operators (float[64,112,112] x) => (float[64,112,112] y)
    <float a = {1.7}, float b = {0.3}, float c = {0.5}> {
        scaled = Mul (x, a)
        moved = Add (scaled, b)
        gate = Sigmoid (moved)
        gated = Mul (gate, x)
        sum = Add (gated, x)
        kept = Relu (sum)
        y = Sub (kept, c)
    }"""
    return [KernelCase("seven operators", "64×12544", _model(text), 16)]


_SOFTMAX = """masked_softmax (float[1,12,{n},{n}] x, float[1,1,{n},{n}] mask)
    => (float[1,12,{n},{n}] y) <float scale = {{0.125}}> {{
        scaled = Mul (x, scale)
        masked = Add (scaled, mask)
        y = Softmax <axis = -1> (masked)
    }}"""
_WINDOWS = """windowed_softmax (float[64,3,49,49] x, float[64,1,49,49] mask)
    => (float[64,3,49,49] y) <float scale = {0.17677669}> {
        scaled = Mul (x, scale)
        biased = Add (scaled, bias)
        masked = Add (biased, mask)
        y = Softmax <axis = -1> (masked)
    }"""


def _softmax() -> list[KernelCase]:
    family, far = "softmax(scale·x + mask)", {"mask": (0.0, 0.0, 0.0, -10000.0)}
    square = _model(_SOFTMAX.format(n=128))
    windows = _model(_WINDOWS, {"bias": drawn(1, 3, 49, 49)})
    return [
        KernelCase(family, "1×12×128×128, mild", square, 8),
        KernelCase(family, "1×12×128×128, −10000", square, 8, far),
        KernelCase(family, "64×3×49×49 with bias, mild", windows, 8),
        KernelCase(family, "64×3×49×49 with bias, −10000", windows, 8, far),
    ]


_RMS = """    square = Mul ({x}, {x})
        mean = ReduceMean <keepdims = 1> (square, last)
        above = Add (mean, epsilon)
        root = Sqrt (above)
        inverse = Reciprocal (root)
        unit = Mul ({x}, inverse)
        y = Mul (unit, weight)
    }}"""
_RMS_CONSTANTS = "<float epsilon = {{0.000001}}, int64[1] last = {{-1}}>"
_RMS_NORM = f"""rms_norm (float[{{n}},{{d}}] x) => (float[{{n}},{{d}}] y) {_RMS_CONSTANTS} {{{{
        {_RMS}"""
_RESIDUAL_RMS = f"""residual_rms_norm (float[{{n}},{{d}}] x, float[{{n}},{{d}}] residual)
    => (float[{{n}},{{d}}] y, float[{{n}},{{d}}] sum) {_RMS_CONSTANTS} {{{{
        sum = Add (x, residual)
        {_RMS}"""


def _rms_norm() -> list[KernelCase]:
    def case(text: str, x: str, n: int, d: int, *, copies: int, also: str = "") -> KernelCase:
        model = _model(text.format(x=x, n=n, d=d), {"weight": 1 + 0.1 * drawn(d)})
        return KernelCase("RMSNorm", f"{n}×{d}{also}", model, copies)

    return [
        case(_RMS_NORM, "x", 32, 512, copies=64),
        case(_RMS_NORM, "x", 128, 2048, copies=8),
        case(_RESIDUAL_RMS, "sum", 32, 512, copies=64, also=" with residual"),
        case(_RESIDUAL_RMS, "sum", 128, 2048, copies=8, also=" with residual"),
    ]


def _layer_norm() -> list[KernelCase]:
    text = """residual_layer_norm (float[{n},{d}] x, float[{n},{d}] residual)
    => (float[{n},{d}] y) {{
        biased = Add (x, bias)
        sum = Add (biased, residual)
        y = LayerNormalization <axis = -1, epsilon = 0.00001> (sum, weight, moved)
    }}"""
    found: list[KernelCase] = []
    for n, d in ((64, 768), (197, 384)):
        weights = {"bias": drawn(d), "weight": 1 + 0.1 * drawn(d, seed=1), "moved": drawn(d)}
        model = _model(text.format(n=n, d=d), weights)
        found.append(KernelCase("residual + bias + LayerNorm", f"{n}×{d}", model, 16))
    return found


def _rotary() -> list[KernelCase]:
    text = """rotary (float[8,32,64] x, float[32,64] cos, float[32,64] sin)
    => (float[8,32,64] y) {
        low, high = Split <axis = -1, num_outputs = 2> (x)
        turned = Neg (high)
        half = Concat <axis = -1> (turned, low)
        straight = Mul (x, cos)
        across = Mul (half, sin)
        y = Add (straight, across)
    }"""
    return [KernelCase("rotary embedding", "8×32×64", _model(text), 32)]


def _gated() -> list[KernelCase]:
    text = """gated (float[{n},{d}] gate, float[{n},{d}] up) => (float[{n},{d}] y) {{
        opened = Sigmoid (gate)
        silu = Mul (gate, opened)
        y = Mul (silu, up)
    }}"""
    return [
        KernelCase("SiLU·up", f"{n}×{d}", _model(text.format(n=n, d=d)), copies)
        for n, d, copies in ((32, 1376, 16), (128, 5504, 8))
    ]


def _gelu() -> list[KernelCase]:
    text = """biased_gelu (float[{n},{d}] x) => (float[{n},{d}] y)
    <float root = {{1.4142135}}, float one = {{1.0}}, float half = {{0.5}}> {{
        biased = Add (x, bias)
        small = Div (biased, root)
        error = Erf (small)
        above = Add (error, one)
        gated = Mul (biased, above)
        y = Mul (gated, half)
    }}"""
    found: list[KernelCase] = []
    for n, d in ((64, 3072), (197, 1536)):
        model = _model(text.format(n=n, d=d), {"bias": drawn(d)})
        found.append(KernelCase("bias + Gelu(erf)", f"{n}×{d}", model, 4))
    return found


def _dequantized() -> list[KernelCase]:
    text = """dequantized (uint8[{n},{d}] q, float[{n},{d}] x) => (float[{n},{d}] y)
    <float scale = {{0.02}}, uint8 zero = {{128}}> {{
        weight = DequantizeLinear (q, scale, zero)
        y = Mul (weight, x)
    }}"""
    return [
        KernelCase("dequantize·x", f"{n}×{d}", _model(text.format(n=n, d=d)), copies)
        for n, d, copies in ((64, 768, 32), (128, 2048, 8))
    ]


def _transposed() -> list[KernelCase]:
    into = """channels_first (float[1,56,56,96] x) => (float[1,96,56,56] y) {
        moved = Transpose <perm = [0, 3, 1, 2]> (x)
        scaled = Mul (moved, weight)
        y = Add (scaled, bias)
    }"""
    heads = """split_heads (float[1,128,768] x) => (float[1,12,128,64] y)
    <int64[4] heads = {1, 128, 12, 64}, float scale = {0.125}> {
        biased = Add (x, bias)
        parts = Reshape (biased, heads)
        moved = Transpose <perm = [0, 2, 1, 3]> (parts)
        y = Mul (moved, scale)
    }"""
    channels = {"weight": drawn(96, 1, 1), "bias": drawn(96, 1, 1, seed=1)}
    family = "Transpose with arithmetic"
    return [
        KernelCase(family, "56×56×96 channels first", _model(into, channels), 2),
        KernelCase(family, "128×768 into 12 heads", _model(heads, {"bias": drawn(768)}), 4),
    ]


_FAMILIES: tuple[Callable[[], list[KernelCase]], ...] = (
    _chain, _softmax, _rms_norm, _layer_norm, _rotary, _gated, _gelu, _dequantized, _transposed,
)  # fmt: skip
