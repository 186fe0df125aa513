"""Options of the session itself: rewrites of the graph, threads, memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from profiling.config.optimizers import OPTIMIZERS
from profiling.config.option import about

MAX_THREADS = 1024

Device = Literal["cpu", "cuda", "tensorrt"]
GraphOptimization = Literal["disabled", "basic", "extended", "layout", "all"]
OptimizerLoops = Literal["never", "after_last_level", "after_fusions"]
ExecutionMode = Literal["sequential", "parallel"]
ExecutionOrder = Literal["default", "priority"]


@dataclass(frozen=True, slots=True)
class SessionFields:
    """Fields of `RunConfig` in the group `session`."""

    device: Device = field(
        default="cpu",
        metadata=about(
            "Device",
            "where the model runs; what TensorRT leaves over runs on CUDA",
            "providers",
            choices=get_args(Device),
        ),
    )
    graph_optimization: GraphOptimization = field(
        default="disabled",
        metadata=about(
            "Runtime optimizations",
            "the runtime's own rewrites; disabled, the file itself is what is measured",
            "SessionOptions.graph_optimization_level",
            choices=get_args(GraphOptimization),
        ),
    )
    optimizers_off: str = field(
        default="",
        metadata=about(
            "Optimizations left out",
            "the runtime's rewrites to leave out, names separated by +",
            "optimization.disable_specified_optimizers",
            item=r"[A-Za-z][A-Za-z0-9_]{0,63}",
            known=OPTIMIZERS,
        ),
    )
    optimizer_loops: OptimizerLoops = field(
        default="after_last_level",
        metadata=about(
            "Repeat optimizations",
            "after which of its rewrites the runtime goes over the graph again",
            "session.graph_optimizations_loop_level",
            choices=get_args(OptimizerLoops),
        ),
    )
    folding_limit_mib: int = field(
        default=1024,
        metadata=about(
            "Largest folded constant",
            "largest result the runtime computes ahead, in MiB",
            "optimization.constant_folding_max_output_size_in_bytes",
            high=1 << 20,
            unit="MiB",
            zero="no limit",
        ),
    )
    gelu_approximation: bool = field(
        default=False,
        metadata=about(
            "Approximate Gelu",
            "let the runtime replace Gelu by its tanh approximation (not the same numbers)",
            "optimization.enable_gelu_approximation",
        ),
    )
    cast_chain_elimination: bool = field(
        default=False,
        metadata=about(
            "Merge chains of Cast",
            "let the runtime join casts that follow each other (not the same numbers)",
            "optimization.enable_cast_chain_elimination",
        ),
    )
    function_inlining: bool = field(
        default=True,
        metadata=about(
            "Inline functions",
            "replace calls of the model's functions by their bodies before anything else",
            "session.disable_aot_function_inlining",
        ),
    )
    qdq_fusion: bool = field(
        default=True,
        metadata=about(
            "Fuse quantize-dequantize",
            "run operators between dequantize and quantize on integers",
            "session.disable_quant_qdq",
        ),
    )
    qdq_folding: bool = field(
        default=True,
        metadata=about(
            "Fold dequantized weights",
            "compute dequantized weights ahead",
            "session.disable_qdq_constant_folding",
        ),
    )
    qdq_pair_removal: bool = field(
        default=True,
        metadata=about(
            "Merge double Q-DQ pairs",
            "drop the inner half of two quantize-dequantize pairs in a row",
            "session.disable_double_qdq_remover",
        ),
    )
    qdq_cleanup: bool = field(
        default=False,
        metadata=about(
            "Remove leftover Q-DQ pairs",
            "drop quantize-dequantize pairs that are left over, and their clipping (not the same "
            "numbers)",
            "session.enable_quant_qdq_cleanup",
        ),
    )
    nbits_fusion: bool = field(
        default=False,
        metadata=about(
            "Fuse 4-bit MatMul",
            "join dequantize and product into one product with 4-bit weights",
            "session.enable_dq_matmulnbits_fusion",
        ),
    )
    nbits_accuracy: int = field(
        default=4,
        metadata=about(
            "4-bit MatMul accuracy level",
            "type that products with 4-bit weights compute in: "
            "0 any, 1 float32, 2 float16, 3 bfloat16, 4 int8",
            "session.qdq_matmulnbits_accuracy_level",
            high=4,
        ),
    )
    intra_threads: int = field(
        default=1,
        metadata=about(
            "Intra-op threads",
            "threads inside one operator",
            "SessionOptions.intra_op_num_threads",
            high=MAX_THREADS,
            zero="one per physical core",
        ),
    )
    inter_threads: int = field(
        default=1,
        metadata=about(
            "Inter-op threads",
            "operators at a time in parallel mode",
            "SessionOptions.inter_op_num_threads",
            high=MAX_THREADS,
            zero="one per physical core",
        ),
    )
    thread_affinities: str = field(
        default="",
        metadata=about(
            "Intra-op thread affinities",
            "processors, from 1, of each thread inside an operator but the first, "
            "separated by +: 2 or 3-4",
            "session.intra_op_thread_affinities",
            item=r"[1-9][0-9]{0,3}(-[1-9][0-9]{0,3})?",
        ),
    )
    spinning: bool = field(
        default=False,
        metadata=about(
            "Idle threads spin",
            "idle threads burn their core while they wait: faster alone, unfair to neighbours",
            "session.intra_op.allow_spinning",
            "session.inter_op.allow_spinning",
        ),
    )
    spin_duration_us: int = field(
        default=0,
        metadata=about(
            "Spin duration",
            "microseconds that an idle thread spins; 0 leaves it to the runtime",
            "session.intra_op.spin_duration_us",
            "session.inter_op.spin_duration_us",
            high=10_000_000,
            unit="µs",
        ),
    )
    spin_backoff: int = field(
        default=1,
        metadata=about(
            "Largest spin backoff",
            "pauses double up to this number while a thread spins: more spares power",
            "session.intra_op.spin_backoff_max",
            "session.inter_op.spin_backoff_max",
            low=1,
            high=64,
            unit="pauses",
        ),
    )
    spin_between_runs: bool = field(
        default=True,
        metadata=about(
            "Spin between runs",
            "threads go on spinning after a run has ended",
            "session.force_spinning_stop",
        ),
    )
    execution_mode: ExecutionMode = field(
        default="sequential",
        metadata=about(
            "Execution mode",
            "one operator after the other, or independent ones at a time",
            "SessionOptions.execution_mode",
            choices=get_args(ExecutionMode),
        ),
    )
    execution_order: ExecutionOrder = field(
        default="default",
        metadata=about(
            "Execution order",
            "in which order operators that are ready run",
            "SessionOptions.execution_order",
            choices=get_args(ExecutionOrder),
        ),
    )
    memory_pattern: bool = field(
        default=True,
        metadata=about(
            "Plan memory ahead",
            "plan one block for all activations after the first run of each input shape",
            "SessionOptions.enable_mem_pattern",
        ),
    )
    memory_reuse: bool = field(
        default=True,
        metadata=about(
            "Reuse buffers",
            "let operators write into buffers that are no longer needed",
            "SessionOptions.enable_mem_reuse",
        ),
    )
    initializers_in_arena: bool = field(
        default=True,
        metadata=about(
            "Weights in the arena",
            "weights take their memory from the arena, not from the device itself",
            "session.use_device_allocator_for_initializers",
        ),
    )
    prepacking: bool = field(
        default=True,
        metadata=about(
            "Prepack weights",
            "store a second copy of weights in the layout that kernels like best",
            "session.disable_prepacking",
        ),
    )
    parallel_prepacking: bool = field(
        default=False,
        metadata=about(
            "Prepack in parallel",
            "prepare the weights of several operators at a time while the session is created",
            "session.prepack.enable_parallel",
        ),
    )
    deterministic: bool = field(
        default=False,
        metadata=about(
            "Deterministic kernels",
            "prefer kernels that give the same bits every time",
            "SessionOptions.use_deterministic_compute",
        ),
    )
