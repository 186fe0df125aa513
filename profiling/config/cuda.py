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

    device_id: int = field(default=0, metadata=about("which GPU", "device_id", high=63))
    cpu_fallback: bool = field(
        default=True,
        metadata=about(
            "let operators without a GPU kernel run on the CPU", "session.disable_cpu_ep_fallback"
        ),
    )
    cuda_graph: bool = field(
        default=False,
        metadata=about(
            "capture all kernel launches once and replay them as one", "enable_cuda_graph"
        ),
    )
    cudnn: bool = field(
        default=True,
        metadata=about(
            "use cuDNN; without it, CUDA's own kernels where there are some", "enable_cudnn"
        ),
    )
    convolution_search: ConvolutionSearch = field(
        default="exhaustive",
        metadata=about(
            "how cuDNN finds a convolution algorithm: try all, estimate, or take the first",
            "cudnn_conv_algo_search",
            choices=get_args(ConvolutionSearch),
        ),
    )
    convolution_workspace: bool = field(
        default=True,
        metadata=about(
            "allow convolution algorithms as much scratch memory as they want",
            "cudnn_conv_use_max_workspace",
        ),
    )
    pad_1d_convolutions: bool = field(
        default=False,
        metadata=about(
            "run 1-D convolutions as [N, C, 1, D] instead of [N, C, D, 1]",
            "cudnn_conv1d_pad_to_nc1d",
        ),
    )
    fuse_convolution_bias: bool = field(
        default=False,
        metadata=about("add bias and activation inside cuDNN's convolution", "fuse_conv_bias"),
    )
    prefer_nhwc: bool = field(
        default=False, metadata=about("convolutions in channels-last layout", "prefer_nhwc")
    )
    tf32: bool = field(
        default=True,
        metadata=about("float32 products on tensor cores with a 10-bit mantissa", "use_tf32"),
    )
    attention_kernel: AttentionKernel = field(
        default="default",
        metadata=about(
            "which kernel fused attention uses", "sdpa_kernel", choices=get_args(AttentionKernel)
        ),
    )
    strict_skip_layer_norm: bool = field(
        default=False,
        metadata=about(
            "sum skip and layer norm in float32: slower, more accurate in float16",
            "enable_skip_layer_norm_strict_mode",
        ),
    )
    gemm_auto_tune: bool = field(
        default=False,
        metadata=about(
            "measure the kernels for small float16 products per shape and keep the fastest",
            "ep.cuda.enable_gemm_auto_tune",
        ),
    )
    nbits_gemm: bool = field(
        default=False,
        metadata=about(
            "products with 4- and 8-bit weights on tensor cores, in float16",
            "ep.cuda.fpa_intb_gemm",
        ),
    )
    nbits_rows: str = field(
        default="",
        metadata=about(
            "row counts to choose those kernels for ahead, separated by +",
            "ep.cuda.fpa_intb_profile_m",
            item=r"[1-9][0-9]{0,5}",
        ),
    )
    tunable_kernels: bool = field(
        default=False,
        metadata=about(
            "operators with several implementations use the one that tuning found",
            "tunable_op_enable",
        ),
    )
    tune_kernels: bool = field(
        default=False,
        metadata=about(
            "try those implementations at run time and keep the best; uses them, too",
            "tunable_op_enable",
            "tunable_op_tuning_enable",
        ),
    )
    tuning_ms: int = field(
        default=0,
        metadata=about(
            "most milliseconds to try one implementation; 0 is no limit",
            "tunable_op_max_tuning_duration_ms",
            high=600_000,
        ),
    )
    arena_growth: ArenaGrowth = field(
        default="power_of_two",
        metadata=about(
            "how much GPU memory the arena takes when it grows",
            "arena_extend_strategy",
            choices=get_args(ArenaGrowth),
        ),
    )
    gpu_memory_mib: int = field(
        default=0,
        metadata=about(
            "limit of the GPU memory arena in MiB; 0 is none", "gpu_mem_limit", high=1 << 20
        ),
    )
    copy_in_default_stream: bool = field(
        default=True,
        metadata=about("copies share the stream of the computation", "do_copy_in_default_stream"),
    )
    unified_stream: bool = field(
        default=False,
        metadata=about(
            "all threads of the provider share one stream", "use_ep_level_unified_stream"
        ),
    )
    weight_readers: int = field(
        default=4,
        metadata=about(
            "threads that read weights beside the model; 0 reads them as the CPU does",
            "external_data_loader_reading_threads",
            high=64,
        ),
    )
