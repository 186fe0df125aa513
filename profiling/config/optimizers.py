"""The rewrites of ONNX Runtime 1.31 that can be left out, by the names it knows them by.

Taken from its own log and tried one by one; some others it applies whatever is asked for.
"""

from __future__ import annotations

_NAMES = """
    AttentionFusion BiasDropoutFusion BiasGeluFusion BiasSkipLayerNormFusion BiasSoftmaxFusion
    CastChainElimination CastElimination ClipQuantRewrite CommonSubexpressionElimination
    ConstantFolding ConstantSharing ConvActivationFusion ConvAddActivationFusion ConvAddFusion
    ConvBNFusion ConvMulFusion DQMatMulNBitsFusion DivMulFusion DoubleQDQPairsRemover
    DynamicQuantizeMatMulFusion EliminateDropout EliminateIdentity EliminateSlice
    EmbedLayerNormFusion ExpandElimination FastGeluFusion FreeDimensionOverrideTransformer
    FuseFp16InitializerToFp32NodeTransformer FuseReluClip GatherSliceToSplitFusion
    GatherToSliceFusion GeluApproximation GeluFusionL1 GeluFusionL2 GemmActivationFusion
    GemmSumFusion GemmTransposeFusion GroupQueryAttentionFusion
    GroupQueryAttentionPreNormFusion LabelEncoderFusion LayerNormFusionL1 LayerNormFusionL2
    Level1_RuleBasedTransformer Level2_RuleBasedTransformer MatMulActivationFusion
    MatMulAddFusion MatMulIntegerToFloatFusion MatMulNBitsFusion MatMulScaleFusion
    MatMul_BatchNormalization_Fusion MatmulTransposeFusion NchwcTransformer NhwcTransformer
    NoopElimination NotWhereFusion Pad_Fusion PreShapeNodeElimination
    QDQFinalCleanupTransformer QDQPropagationTransformer QDQS8ToU8Transformer
    QDQSelectorActionTransformer QuickGeluFusion ReluQuantRewrite ReshapeFusion
    SimplifiedLayerNormFusion SkipLayerNormFusion SliceConcatToSpaceToDepthFusion
    TransposeOptimizer TransposeOptimizer_CPUExecutionProvider UnsqueezeElimination
    WeightBiasQuantization WhereDummyDq
"""
OPTIMIZERS = tuple(_NAMES.split())
