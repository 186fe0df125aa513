"""Options of the CPU and CUDA providers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from profiling.config.option import choice, listing, number, switch
from profiling.config.session import SessionFields

ArenaGrowth = Literal["power_of_two", "same_as_requested"]
GeneratedKernels = Literal["halide", "c", "tvm", "off"]


@dataclass(frozen=True, slots=True)
class CpuFields(SessionFields):
    """Fields of `RunConfig` in the group `cpu`."""

    cpu_arena: bool = switch(
        "Memory arena",
        "keep freed memory for the next request",
        "SessionOptions.enable_cpu_mem_arena",
        default=True,
    )
    cpu_arena_growth: ArenaGrowth = choice(
        "power_of_two",
        "Arena growth",
        "how much memory the arena takes when it grows",
        "session.use_env_allocators",
        codes=("0", "1"),
    )
    denormals_as_zero: bool = switch(
        "Denormals as zero",
        "treat numbers too small for full precision as zero",
        "session.set_denormal_as_zero",
    )
    dynamic_blocks: int = number(
        0,
        "Dynamic block base",
        "split an operator's work into shrinking blocks of this base; 0 splits evenly",
        "session.dynamic_block_base",
        high=64,
    )
    lut_gemm: bool = switch(
        "Lookup-table GEMM", "look up products with 2-bit weights in a table", "mlas.use_lut_gemm"
    )
    generated_kernels: GeneratedKernels = choice(
        "halide",
        "Generated kernels",
        "whose code runs the model's generated functions; off, they are the operators in them",
        "RegisterCustomOps",
    )


ConvolutionSearch = Literal["exhaustive", "heuristic", "default"]
AttentionKernel = Literal["default", "flash", "efficient", "fused", "cudnn", "math"]


@dataclass(frozen=True, slots=True)
class CudaFields(CpuFields):
    """Fields of `RunConfig` in the group `cuda`."""

    device_id: int = number(0, "GPU number", "which GPU", "device_id", high=63)
    cpu_fallback: bool = switch(
        "Fall back to the CPU",
        "let operators without a GPU kernel run on the CPU",
        "session.disable_cpu_ep_fallback",
        default=True,
        negated=True,
    )
    cuda_graph: bool = switch(
        "CUDA Graph", "capture all kernel launches once and replay them as one", "enable_cuda_graph"
    )
    cudnn: bool = switch(
        "cuDNN",
        "use cuDNN; without it, CUDA's own kernels where there are some",
        "enable_cudnn",
        default=True,
    )
    convolution_search: ConvolutionSearch = choice(
        "exhaustive",
        "Convolution algorithm search",
        "how cuDNN finds a convolution algorithm: try all, estimate, or take the first",
        "cudnn_conv_algo_search",
        codes=("EXHAUSTIVE", "HEURISTIC", "DEFAULT"),
    )
    convolution_workspace: bool = switch(
        "Unlimited convolution workspace",
        "allow convolution algorithms as much scratch memory as they want",
        "cudnn_conv_use_max_workspace",
        default=True,
    )
    pad_1d_convolutions: bool = switch(
        "Pad 1-D convolutions in front",
        "run 1-D convolutions as [N, C, 1, D] instead of [N, C, D, 1]",
        "cudnn_conv1d_pad_to_nc1d",
    )
    fuse_convolution_bias: bool = switch(
        "Fuse convolution bias",
        "add bias and activation inside cuDNN's convolution",
        "fuse_conv_bias",
    )
    prefer_nhwc: bool = switch(
        "Channels last (NHWC)", "convolutions in channels-last layout", "prefer_nhwc"
    )
    tf32: bool = switch(
        "TF32", "float32 products on tensor cores with a 10-bit mantissa", "use_tf32", default=True
    )
    attention_kernel: AttentionKernel = choice(
        "default",
        "Attention kernel",
        "which kernel fused attention uses",
        "sdpa_kernel",
        codes=("0", "1", "2", "4", "8", "16"),
    )
    strict_skip_layer_norm: bool = switch(
        "SkipLayerNorm in float32",
        "sum skip and layer norm in float32: slower, more accurate in float16",
        "enable_skip_layer_norm_strict_mode",
    )
    gemm_auto_tune: bool = switch(
        "Tune float16 GEMM",
        "measure the kernels for small float16 products per shape and keep the fastest",
        "ep.cuda.enable_gemm_auto_tune",
    )
    nbits_gemm: bool = switch(
        "4- and 8-bit GEMM",
        "products with 4- and 8-bit weights on tensor cores, in float16",
        "ep.cuda.fpa_intb_gemm",
    )
    nbits_rows: str = listing(
        "Row counts of 4- and 8-bit GEMM",
        "row counts to choose those kernels for ahead, separated by +",
        "ep.cuda.fpa_intb_profile_m",
        item=r"[1-9][0-9]{0,5}",
    )
    tunable_kernels: bool = switch(
        "Use tuned kernels",
        "operators with several implementations use the one that tuning found",
        "tunable_op_enable",
    )
    tune_kernels: bool = switch(
        "Tune kernels",
        "try those implementations at run time and keep the best; uses them, too",
        "tunable_op_enable",
        "tunable_op_tuning_enable",
    )
    tuning_ms: int = number(
        0,
        "Longest tuning of a kernel",
        "most milliseconds to try one implementation",
        "tunable_op_max_tuning_duration_ms",
        high=600_000,
        unit="ms",
        zero="no limit",
    )
    arena_growth: ArenaGrowth = choice(
        "power_of_two",
        "GPU arena growth",
        "how much GPU memory the arena takes when it grows",
        "arena_extend_strategy",
        codes=("kNextPowerOfTwo", "kSameAsRequested"),
    )
    gpu_memory_mib: int = number(
        0,
        "GPU memory limit",
        "limit of the GPU memory arena in MiB",
        "gpu_mem_limit",
        high=1 << 20,
        unit="MiB",
        zero="none",
    )
    copy_in_default_stream: bool = switch(
        "Copy in the default stream",
        "copies share the stream of the computation",
        "do_copy_in_default_stream",
        default=True,
    )
    unified_stream: bool = switch(
        "One stream for all threads",
        "all threads of the provider share one stream",
        "use_ep_level_unified_stream",
    )
    weight_readers: int = number(
        4,
        "Weight readers",
        "threads that read weights beside the model; 0 reads them as the CPU does",
        "external_data_loader_reading_threads",
        high=64,
        unit="threads",
    )
