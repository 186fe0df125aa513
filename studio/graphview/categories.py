"""The category of an operator: it decides colour and glyph in the viewer."""

from __future__ import annotations

from typing import Literal

Category = Literal[
    "conv", "norm", "act", "pool", "shape", "elem", "attn", "control", "quant", "io", "unknown"
]

_OPERATORS: dict[Category, str] = {
    "conv": "Conv ConvTranspose ConvInteger QLinearConv DeformConv MatMul Gemm MatMulInteger"
    " QLinearMatMul Einsum LSTM GRU RNN FusedConv FusedGemm FusedMatMul NhwcConv MatMulNBits"
    " TransposeMatMul GemmFastGelu",
    "norm": "BatchNormalization InstanceNormalization LayerNormalization GroupNormalization"
    " RMSNormalization LpNormalization LRN MeanVarianceNormalization SkipLayerNormalization"
    " SimplifiedLayerNormalization SkipSimplifiedLayerNormalization EmbedLayerNormalization",
    "act": "Relu LeakyRelu PRelu Elu Selu Celu Sigmoid HardSigmoid HardSwish Tanh Softmax"
    " LogSoftmax Hardmax Softplus Softsign Gelu FastGelu QuickGelu BiasGelu Mish Swish"
    " ThresholdedRelu Clip Erf",
    "pool": "MaxPool AveragePool GlobalAveragePool GlobalMaxPool LpPool GlobalLpPool MaxRoiPool"
    " RoiAlign ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2"
    " ReduceLogSum ReduceLogSumExp ReduceSumSquare ArgMax ArgMin TopK CumSum",
    "shape": "Reshape Transpose Squeeze Unsqueeze Flatten Concat Split Slice Gather GatherND"
    " GatherElements Scatter ScatterND ScatterElements Expand Tile Pad Shape Size Identity Cast"
    " CastLike ReorderInput ReorderOutput Constant ConstantOfShape Range DepthToSpace SpaceToDepth"
    " Resize Upsample CenterCropPad Compress NonZero OneHot EyeLike Trilu ReverseSequence"
    " Col2Im AffineGrid GridSample Dropout",
    "elem": "Add Sub Mul Div Pow Sqrt Exp Log Neg Abs Reciprocal Max Min Mean Sum Floor Ceil"
    " Round Sign Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Mod And Or Xor Not Equal"
    " Greater GreaterOrEqual Less LessOrEqual Where IsNaN IsInf BitShift BitwiseAnd BitwiseOr"
    " BitwiseXor BitwiseNot",
    "attn": "Attention MultiHeadAttention GroupQueryAttention RotaryEmbedding PackedAttention"
    " DecoderMaskedMultiHeadAttention",
    "control": "If Loop Scan SequenceConstruct SequenceAt SequenceInsert SequenceEmpty"
    " SequenceErase SequenceLength SplitToSequence ConcatFromSequence SequenceMap Optional"
    " OptionalGetElement OptionalHasElement",
    "quant": "QuantizeLinear DequantizeLinear DynamicQuantizeLinear DynamicQuantizeMatMul"
    " MatMulIntegerToFloat QLinearAdd QLinearMul QLinearSigmoid QLinearGlobalAveragePool",
}

_CATEGORY: dict[str, Category] = {
    op: category for category, ops in _OPERATORS.items() for op in ops.split()
}


def category(op_type: str) -> Category:
    """The category of an operator; `unknown` for custom ones."""
    return _CATEGORY.get(op_type, "unknown")
