"""Passes that write a block another way as candidates: what each fits, and what it is held to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from optimizer.passes.kernels.attention import (
    FuseAttentionRuntime,
    FuseAttentionRuntimeHalf,
    ScaleInsideProduct,
)
from optimizer.passes.kernels.attention_by_head import ComputeAttentionByHead
from optimizer.passes.kernels.convolutions import WriteMatmulAsConv
from optimizer.passes.kernels.products import StoreGemmWeights, WriteMatmulAsGemm
from optimizer.passes.lowering.convolution import WriteConvAsMatmul
from optimizer.passes.lowering.products import WriteGemmAsMatmul
from optimizer.passes.precision.compute_in_16_bits import ComputeIn16Bits
from optimizer.passes.precision.quantize_dynamically import (
    QuantizeConvDynamically,
    QuantizeMatmulDynamically,
)
from optimizer.passes.precision.store_weights import StoreWeightsIn4Bits
from optimizer.registry import Pass
from optimizer.verify import Tolerance

EQUAL = Tolerance()
HALF = Tolerance(rtol=0.01, atol=1e-3)
EIGHT_BITS = Tolerance(rtol=0.05, atol=1e-3)
FOUR_BITS = Tolerance(rtol=0.25, atol=1e-3)


def loosest(tolerances: Iterable[Tolerance]) -> Tolerance:
    """What results are held to that are compared together."""
    held = list(tolerances)
    return Tolerance(max(one.rtol for one in held), max(one.atol for one in held))


@dataclass(frozen=True, slots=True)
class Reformulation:
    """One way to write a block.

    Attributes:
        id: in files and links.
        label: in tables.
        passes: that write it so, of which the first that fits is taken.
        kinds: of blocks that it may fit.
        tolerance: what its result is held to.
        half: needs kernels for a 16-bit type.
    """

    id: str
    label: str
    passes: tuple[Pass, ...]
    kinds: frozenset[str]
    tolerance: Tolerance = EQUAL
    half: bool = False

    @property
    def lossy(self) -> bool:
        """Whether it computes with fewer bits."""
        return self.passes[0].exactness == "lossy"


_CONV = frozenset({"Conv"})
_PRODUCT = frozenset({"MatMul", "Gemm"})
_ATTENTION = frozenset({"Attention"})
_HEAVY = _CONV | _PRODUCT | _ATTENTION
_STORED = (StoreGemmWeights(), StoreGemmWeights(plain=True))
_FUSED_HALF = (FuseAttentionRuntimeHalf(),)
_BFLOAT = (ComputeIn16Bits(bfloat=True),)
_POINTWISE = (WriteConvAsMatmul(pointwise=True),)
_INT8 = (QuantizeMatmulDynamically(),)

REFORMULATIONS = (
    Reformulation("conv-matmul", "1×1 Conv as MatMul", _POINTWISE, _CONV),
    Reformulation("matmul-gemm", "MatMul as Gemm", (WriteMatmulAsGemm(),), _PRODUCT),
    Reformulation("transposed-gemm", "Gemm, weights transposed", _STORED, _PRODUCT),
    Reformulation("gemm-matmul", "Gemm as MatMul + Add", (WriteGemmAsMatmul(),), _PRODUCT),
    Reformulation("matmul-conv", "product as 1×1 Conv", (WriteMatmulAsConv(),), _PRODUCT),
    Reformulation("fused-attention", "fused attention", (FuseAttentionRuntime(),), _ATTENTION),
    Reformulation(
        "fused-attention-half", "fused attention, float16", _FUSED_HALF, _ATTENTION, HALF, half=True
    ),
    Reformulation(
        "scaled-product", "scale inside the product", (ScaleInsideProduct(),), _ATTENTION
    ),
    Reformulation(
        "attention-by-head", "one head at a time", (ComputeAttentionByHead(),), _ATTENTION
    ),
    Reformulation("float16", "float16", (ComputeIn16Bits(),), _HEAVY, HALF, half=True),
    Reformulation("bfloat16", "bfloat16", _BFLOAT, _HEAVY, EIGHT_BITS, half=True),
    Reformulation("conv-int8", "int8, dynamic", (QuantizeConvDynamically(),), _CONV, EIGHT_BITS),
    Reformulation("matmul-int8", "int8, dynamic", _INT8, _PRODUCT, EIGHT_BITS),
    Reformulation("matmul-4-bit", "4-bit weights", (StoreWeightsIn4Bits(),), _PRODUCT, FOUR_BITS),
)
BY_ID = {reformulation.id: reformulation for reformulation in REFORMULATIONS}
