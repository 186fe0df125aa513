"""Options of the session itself: rewrites of the graph, threads, memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from profiling.config.option import choice, listing, number, switch

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
"""The rewrites of ONNX Runtime 1.31 that can be left out, by the names it knows them by: taken from
its own log and tried one by one. Some others it applies whatever is asked for."""


MAX_THREADS = 1024

Device = Literal["cpu", "cuda", "tensorrt"]
GraphOptimization = Literal["disabled", "basic", "extended", "layout", "all"]
OptimizerLoops = Literal["never", "after_last_level", "after_fusions"]
ExecutionMode = Literal["sequential", "parallel"]
ExecutionOrder = Literal["default", "priority"]


@dataclass(frozen=True, slots=True)
class SessionFields:
    """Fields of `RunConfig` in the group `session`."""

    device: Device = choice(
        "cpu", "Device", "where the model runs; what TensorRT leaves over runs on CUDA", "providers"
    )
    graph_optimization: GraphOptimization = choice(
        "disabled",
        "Runtime optimizations",
        "the runtime's own rewrites; disabled, the file itself is what is measured",
        "SessionOptions.graph_optimization_level",
        codes=(
            "ORT_DISABLE_ALL",
            "ORT_ENABLE_BASIC",
            "ORT_ENABLE_EXTENDED",
            "ORT_ENABLE_LAYOUT",
            "ORT_ENABLE_ALL",
        ),
    )
    optimizers_off: str = listing(
        "Optimizations left out",
        "the runtime's rewrites to leave out, names separated by +",
        "optimization.disable_specified_optimizers",
        item=r"[A-Za-z][A-Za-z0-9_]{0,63}",
        known=OPTIMIZERS,
        joined=";",
    )
    optimizer_loops: OptimizerLoops = choice(
        "after_last_level",
        "Repeat optimizations",
        "after which of its rewrites the runtime goes over the graph again",
        "session.graph_optimizations_loop_level",
        codes=("0", "1", "2"),
    )
    folding_limit_mib: int = number(
        1024,
        "Largest folded constant",
        "largest result the runtime computes ahead, in MiB",
        "optimization.constant_folding_max_output_size_in_bytes",
        high=1 << 20,
        unit="MiB",
        zero="no limit",
    )
    gelu_approximation: bool = switch(
        "Approximate Gelu",
        "let the runtime replace Gelu by its tanh approximation (not the same numbers)",
        "optimization.enable_gelu_approximation",
    )
    cast_chain_elimination: bool = switch(
        "Merge chains of Cast",
        "let the runtime join casts that follow each other (not the same numbers)",
        "optimization.enable_cast_chain_elimination",
    )
    function_inlining: bool = switch(
        "Inline functions",
        "replace calls of the model's functions by their bodies before anything else",
        "session.disable_aot_function_inlining",
        default=True,
        negated=True,
    )
    qdq_fusion: bool = switch(
        "Fuse quantize-dequantize",
        "run operators between dequantize and quantize on integers",
        "session.disable_quant_qdq",
        default=True,
        negated=True,
    )
    qdq_folding: bool = switch(
        "Fold dequantized weights",
        "compute dequantized weights ahead",
        "session.disable_qdq_constant_folding",
        default=True,
        negated=True,
    )
    qdq_pair_removal: bool = switch(
        "Merge double Q-DQ pairs",
        "drop the inner half of two quantize-dequantize pairs in a row",
        "session.disable_double_qdq_remover",
        default=True,
        negated=True,
    )
    qdq_cleanup: bool = switch(
        "Remove leftover Q-DQ pairs",
        "drop quantize-dequantize pairs that are left over, and their clipping (not the same "
        "numbers)",
        "session.enable_quant_qdq_cleanup",
    )
    nbits_fusion: bool = switch(
        "Fuse 4-bit MatMul",
        "join dequantize and product into one product with 4-bit weights",
        "session.enable_dq_matmulnbits_fusion",
    )
    nbits_accuracy: int = number(
        4,
        "4-bit MatMul accuracy level",
        "type that products with 4-bit weights compute in: "
        "0 any, 1 float32, 2 float16, 3 bfloat16, 4 int8",
        "session.qdq_matmulnbits_accuracy_level",
        high=4,
    )
    intra_threads: int = number(
        1,
        "Intra-op threads",
        "threads inside one operator",
        "SessionOptions.intra_op_num_threads",
        high=MAX_THREADS,
        zero="one per physical core",
    )
    inter_threads: int = number(
        1,
        "Inter-op threads",
        "operators at a time in parallel mode",
        "SessionOptions.inter_op_num_threads",
        high=MAX_THREADS,
        zero="one per physical core",
    )
    thread_affinities: str = listing(
        "Intra-op thread affinities",
        "processors, from 1, of each thread inside an operator but the first, "
        "separated by +: 2 or 3-4",
        "session.intra_op_thread_affinities",
        item=r"[1-9][0-9]{0,3}(-[1-9][0-9]{0,3})?",
        joined=";",
    )
    spinning: bool = switch(
        "Idle threads spin",
        "idle threads burn their core while they wait: faster alone, unfair to neighbours",
        "session.intra_op.allow_spinning",
        "session.inter_op.allow_spinning",
        always=True,
    )
    spin_duration_us: int = number(
        0,
        "Spin duration",
        "microseconds that an idle thread spins; 0 leaves it to the runtime",
        "session.intra_op.spin_duration_us",
        "session.inter_op.spin_duration_us",
        high=10_000_000,
        unit="µs",
    )
    spin_backoff: int = number(
        1,
        "Largest spin backoff",
        "pauses double up to this number while a thread spins: more spares power",
        "session.intra_op.spin_backoff_max",
        "session.inter_op.spin_backoff_max",
        low=1,
        high=64,
        unit="pauses",
    )
    spin_between_runs: bool = switch(
        "Spin between runs",
        "threads go on spinning after a run has ended",
        "session.force_spinning_stop",
        default=True,
        negated=True,
    )
    execution_mode: ExecutionMode = choice(
        "sequential",
        "Execution mode",
        "one operator after the other, or independent ones at a time",
        "SessionOptions.execution_mode",
        codes=("ORT_SEQUENTIAL", "ORT_PARALLEL"),
    )
    execution_order: ExecutionOrder = choice(
        "default",
        "Execution order",
        "in which order operators that are ready run",
        "SessionOptions.execution_order",
        codes=("DEFAULT", "PRIORITY_BASED"),
    )
    memory_pattern: bool = switch(
        "Plan memory ahead",
        "plan one block for all activations after the first run of each input shape",
        "SessionOptions.enable_mem_pattern",
        default=True,
    )
    memory_reuse: bool = switch(
        "Reuse buffers",
        "let operators write into buffers that are no longer needed",
        "SessionOptions.enable_mem_reuse",
        default=True,
    )
    initializers_in_arena: bool = switch(
        "Weights in the arena",
        "weights take their memory from the arena, not from the device itself",
        "session.use_device_allocator_for_initializers",
        default=True,
        negated=True,
    )
    prepacking: bool = switch(
        "Prepack weights",
        "store a second copy of weights in the layout that kernels like best",
        "session.disable_prepacking",
        default=True,
        negated=True,
    )
    parallel_prepacking: bool = switch(
        "Prepack in parallel",
        "prepare the weights of several operators at a time while the session is created",
        "session.prepack.enable_parallel",
    )
    deterministic: bool = switch(
        "Deterministic kernels",
        "prefer kernels that give the same bits every time",
        "SessionOptions.use_deterministic_compute",
    )
