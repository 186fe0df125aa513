"""Options of the TensorRT provider."""

from __future__ import annotations

from dataclasses import dataclass

from profiling.config.option import listing, number, switch
from profiling.config.providers import CudaFields

TACTICS = ("CUBLAS", "CUBLAS_LT", "CUDNN", "EDGE_MASK_CONVOLUTIONS", "JIT_CONVOLUTIONS")
_SHAPE = r"[A-Za-z_][A-Za-z0-9_./]{0,127}:[0-9]{1,9}(x[0-9]{1,9}){0,7}"


@dataclass(frozen=True, slots=True)
class TensorRtFields(CudaFields):
    """Fields of `RunConfig` in the group `tensorrt`."""

    trt_fp16: bool = switch("float16 kernels", "allow kernels in float16", "trt_fp16_enable")
    trt_bf16: bool = switch("bfloat16 kernels", "allow kernels in bfloat16", "trt_bf16_enable")
    trt_int8: bool = switch(
        "int8 kernels",
        "allow kernels in int8, for a model with quantize and dequantize operators",
        "trt_int8_enable",
    )
    trt_layer_norm_fp32: bool = switch(
        "LayerNorm in float32",
        "keep power and mean of layer norms in float32",
        "trt_layer_norm_fp32_fallback",
    )
    trt_sparsity: bool = switch(
        "2:4 sparse weights", "use kernels for 2:4 sparse weights", "trt_sparsity_enable"
    )
    trt_builder_level: int = number(
        3,
        "Builder optimization level",
        "how long the builder searches: 0 takes the first kernel, 2 estimates, 5 tries most",
        "trt_builder_optimization_level",
        high=5,
    )
    trt_tactics: str = listing(
        "Tactic sources",
        "libraries to take kernels from, separated by +; empty leaves it to TensorRT",
        "trt_tactic_sources",
        item=r"[A-Z_]{1,32}",
        known=TACTICS,
        signed=True,
    )
    trt_workspace_mib: int = number(
        0,
        "Workspace limit",
        "most scratch memory of a kernel in MiB",
        "trt_max_workspace_size",
        high=1 << 20,
        unit="MiB",
        zero="all of the GPU's",
    )
    trt_min_subgraph: int = number(
        1,
        "Smallest subgraph",
        "fewest operators that are worth an engine",
        "trt_min_subgraph_size",
        low=1,
        high=10_000,
        unit="operators",
    )
    trt_partition_rounds: int = number(
        1000,
        "Partitioning attempts",
        "most attempts to divide the graph between TensorRT and CUDA",
        "trt_max_partition_iterations",
        low=1,
        high=10_000,
    )
    trt_exclude: str = listing(
        "Operators left to CUDA",
        "operators to leave to CUDA, separated by +",
        "trt_op_types_to_exclude",
        item=r"[A-Za-z][A-Za-z0-9_]{0,63}",
    )
    trt_auxiliary_streams: int = number(
        -1,
        "Auxiliary streams",
        "streams beside the main one; -1 leaves it to TensorRT, 0 saves memory",
        "trt_auxiliary_streams",
        low=-1,
        high=16,
    )
    trt_cuda_graph: bool = switch(
        "CUDA Graph of engines",
        "capture the engine's launches and replay them",
        "trt_cuda_graph_enable",
    )
    trt_share_memory: bool = switch(
        "Engines share scratch memory",
        "engines of one session share their scratch memory",
        "trt_context_memory_sharing_enable",
    )
    trt_hardware_compatible: bool = switch(
        "Hardware-compatible engines",
        "build engines that also run on other GPUs from Ampere on",
        "trt_engine_hw_compatible",
    )
    trt_sequential_build: bool = switch(
        "Build engines one by one",
        "build one engine at a time, not one on each GPU",
        "trt_force_sequential_engine_build",
    )
    trt_engine_cache: bool = switch(
        "Keep built engines",
        "keep built engines beside the model: only the first session is slow to create",
        "trt_engine_cache_enable",
        "trt_engine_cache_path",
    )
    trt_timing_cache: bool = switch(
        "Keep kernel times",
        "keep measured kernel times beside the model: later engines are built faster",
        "trt_timing_cache_enable",
        "trt_timing_cache_path",
    )
    trt_force_timing_cache: bool = switch(
        "Kernel times of another GPU",
        "use kernel times that were measured on another GPU of the same architecture",
        "trt_force_timing_cache",
    )
    trt_min_shapes: str = listing(
        "Smallest shapes",
        "smallest shapes of dynamic inputs, separated by +: image:1x3x224x224",
        "trt_profile_min_shapes",
        item=_SHAPE,
    )
    trt_best_shapes: str = listing(
        "Best shapes",
        "shapes that engines are tuned for, separated by +",
        "trt_profile_opt_shapes",
        item=_SHAPE,
    )
    trt_max_shapes: str = listing(
        "Largest shapes",
        "largest shapes of dynamic inputs, separated by +",
        "trt_profile_max_shapes",
        item=_SHAPE,
    )
