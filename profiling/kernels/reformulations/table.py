"""All ways to write a block anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from optimizer.verify import Tolerance
from profiling.kernels.reformulations.attention import (
    attention_fused,
    attention_fused_in_half,
    attention_with_scaled_product,
)
from profiling.kernels.reformulations.convolutions import (
    convolution_as_product,
    convolution_in_integers,
)
from profiling.kernels.reformulations.products import (
    gemm_as_product,
    product_as_convolution,
    product_as_gemm,
    product_as_transposed_gemm,
    product_in_4_bits,
    product_in_integers,
)
from profiling.kernels.reformulations.reduced import in_bfloat16, in_float16
from profiling.kernels.reformulations.site import Site

EQUAL = Tolerance()
HALF = Tolerance(rtol=0.01, atol=1e-3)
EIGHT_BITS = Tolerance(rtol=0.05, atol=1e-3)
FOUR_BITS = Tolerance(rtol=0.25, atol=1e-3)


@dataclass(frozen=True, slots=True)
class Reformulation:
    """One way.

    Attributes:
        id: in files and links.
        label: in tables.
        rewrite: does it, or raises `NotHere` before it changed anything; its docstring says what.
        kinds: of blocks that it may fit.
        tolerance: what its result is held to.
        half: needs kernels for a 16-bit type.
    """

    id: str
    label: str
    rewrite: Callable[[Site], None]
    kinds: frozenset[str]
    tolerance: Tolerance = EQUAL
    half: bool = False

    @property
    def lossy(self) -> bool:
        """Whether it computes with fewer bits."""
        return self.tolerance != EQUAL

    @property
    def about(self) -> str:
        """What it does, in one line."""
        return (self.rewrite.__doc__ or "").strip().splitlines()[0]


_CONV = frozenset({"Conv"})
_PRODUCT = frozenset({"MatMul", "Gemm"})
_ATTENTION = frozenset({"Attention"})
_HEAVY = _CONV | _PRODUCT | _ATTENTION

REFORMULATIONS = (
    Reformulation("conv-matmul", "1×1 Conv as MatMul", convolution_as_product, _CONV),
    Reformulation("matmul-gemm", "MatMul as Gemm", product_as_gemm, _PRODUCT),
    Reformulation(
        "transposed-gemm", "Gemm, weights transposed", product_as_transposed_gemm, _PRODUCT
    ),
    Reformulation("gemm-matmul", "Gemm as MatMul + Add", gemm_as_product, _PRODUCT),
    Reformulation("matmul-conv", "product as 1×1 Conv", product_as_convolution, _PRODUCT),
    Reformulation("fused-attention", "fused attention", attention_fused, _ATTENTION),
    Reformulation(
        "fused-attention-half",
        "fused attention, float16",
        attention_fused_in_half,
        _ATTENTION,
        HALF,
        half=True,
    ),
    Reformulation(
        "scaled-product", "scale inside the product", attention_with_scaled_product, _ATTENTION
    ),
    Reformulation("float16", "float16", in_float16, _HEAVY, HALF, half=True),
    Reformulation("bfloat16", "bfloat16", in_bfloat16, _HEAVY, EIGHT_BITS, half=True),
    Reformulation("conv-int8", "int8, dynamic", convolution_in_integers, _CONV, EIGHT_BITS),
    Reformulation("matmul-int8", "int8, dynamic", product_in_integers, _PRODUCT, EIGHT_BITS),
    Reformulation("matmul-4-bit", "4-bit weights", product_in_4_bits, _PRODUCT, FOUR_BITS),
)
BY_ID = {reformulation.id: reformulation for reformulation in REFORMULATIONS}
