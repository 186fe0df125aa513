"""Options of the CUDA provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from profiling.config.cpu import ArenaGrowth, CpuFields
from profiling.config.option import about

ConvolutionSearch = Literal["exhaustive", "heuristic", "default"]
AttentionKernel = Literal["default", "flash", "efficient", "fused", "cudnn", "math"]


@dataclass(frozen=True, slots=True)
class CudaFields(CpuFields):
    """Fields of `RunConfig` in the group `cuda`."""

    device_id: int = field(
        default=0, metadata=about("GPU number", "which GPU", "device_id", high=63)
    )
    cpu_fallback: bool = field(
        default=True,
        metadata=about(
            "Fall back to the CPU",
            "let operators without a GPU kernel run on the CPU",
            "session.disable_cpu_ep_fallback",
        ),
    )
    cuda_graph: bool = field(
        default=False,
        metadata=about(
            "CUDA Graph",
            "capture all kernel launches once and replay them as one",
            "enable_cuda_graph",
        ),
    )
    cudnn: bool = field(
        default=True,
        metadata=about(
            "cuDNN",
            "use cuDNN; without it, CUDA's own kernels where there are some",
            "enable_cudnn",
        ),
    )
    convolution_search: ConvolutionSearch = field(
        default="exhaustive",
        metadata=about(
            "Convolution algorithm search",
            "how cuDNN finds a convolution algorithm: try all, estimate, or take the first",
            "cudnn_conv_algo_search",
            choices=get_args(ConvolutionSearch),
        ),
    )
    convolution_workspace: bool = field(
        default=True,
        metadata=about(
            "Unlimited convolution workspace",
            "allow convolution algorithms as much scratch memory as they want",
            "cudnn_conv_use_max_workspace",
        ),
    )
    pad_1d_convolutions: bool = field(
        default=False,
        metadata=about(
            "Pad 1-D convolutions in front",
            "run 1-D convolutions as [N, C, 1, D] instead of [N, C, D, 1]",
            "cudnn_conv1d_pad_to_nc1d",
        ),
    )
    fuse_convolution_bias: bool = field(
        default=False,
        metadata=about(
            "Fuse convolution bias",
            "add bias and activation inside cuDNN's convolution",
            "fuse_conv_bias",
        ),
    )
    prefer_nhwc: bool = field(
        default=False,
        metadata=about(
            "Channels last (NHWC)", "convolutions in channels-last layout", "prefer_nhwc"
        ),
    )
    tf32: bool = field(
        default=True,
        metadata=about(
            "TF32", "float32 products on tensor cores with a 10-bit mantissa", "use_tf32"
        ),
    )
    attention_kernel: AttentionKernel = field(
        default="default",
        metadata=about(
            "Attention kernel",
            "which kernel fused attention uses",
            "sdpa_kernel",
            choices=get_args(AttentionKernel),
        ),
    )
    strict_skip_layer_norm: bool = field(
        default=False,
        metadata=about(
            "SkipLayerNorm in float32",
            "sum skip and layer norm in float32: slower, more accurate in float16",
            "enable_skip_layer_norm_strict_mode",
        ),
    )
    gemm_auto_tune: bool = field(
        default=False,
        metadata=about(
            "Tune float16 GEMM",
            "measure the kernels for small float16 products per shape and keep the fastest",
            "ep.cuda.enable_gemm_auto_tune",
        ),
    )
    nbits_gemm: bool = field(
        default=False,
        metadata=about(
            "4- and 8-bit GEMM",
            "products with 4- and 8-bit weights on tensor cores, in float16",
            "ep.cuda.fpa_intb_gemm",
        ),
    )
    nbits_rows: str = field(
        default="",
        metadata=about(
            "Row counts of 4- and 8-bit GEMM",
            "row counts to choose those kernels for ahead, separated by +",
            "ep.cuda.fpa_intb_profile_m",
            item=r"[1-9][0-9]{0,5}",
        ),
    )
    tunable_kernels: bool = field(
        default=False,
        metadata=about(
            "Use tuned kernels",
            "operators with several implementations use the one that tuning found",
            "tunable_op_enable",
        ),
    )
    tune_kernels: bool = field(
        default=False,
        metadata=about(
            "Tune kernels",
            "try those implementations at run time and keep the best; uses them, too",
            "tunable_op_enable",
            "tunable_op_tuning_enable",
        ),
    )
    tuning_ms: int = field(
        default=0,
        metadata=about(
            "Longest tuning of a kernel",
            "most milliseconds to try one implementation",
            "tunable_op_max_tuning_duration_ms",
            high=600_000,
            unit="ms",
            zero="no limit",
        ),
    )
    arena_growth: ArenaGrowth = field(
        default="power_of_two",
        metadata=about(
            "GPU arena growth",
            "how much GPU memory the arena takes when it grows",
            "arena_extend_strategy",
            choices=get_args(ArenaGrowth),
        ),
    )
    gpu_memory_mib: int = field(
        default=0,
        metadata=about(
            "GPU memory limit",
            "limit of the GPU memory arena in MiB",
            "gpu_mem_limit",
            high=1 << 20,
            unit="MiB",
            zero="none",
        ),
    )
    copy_in_default_stream: bool = field(
        default=True,
        metadata=about(
            "Copy in the default stream",
            "copies share the stream of the computation",
            "do_copy_in_default_stream",
        ),
    )
    unified_stream: bool = field(
        default=False,
        metadata=about(
            "One stream for all threads",
            "all threads of the provider share one stream",
            "use_ep_level_unified_stream",
        ),
    )
    weight_readers: int = field(
        default=4,
        metadata=about(
            "Weight readers",
            "threads that read weights beside the model; 0 reads them as the CPU does",
            "external_data_loader_reading_threads",
            high=64,
            unit="threads",
        ),
    )
