"""How a model is run: every option typed, documented and checked before anything runs.

The fields of `RunConfig` are the options. Form, command line (`--set`, `--vary`) and documentation
derive from them through `options`. The runtime itself accepts unknown keys in silence and ignores
contradictory ones; here both are errors with a reason.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from profiling.config.option import ConfigError, Option, Value, about, check_value

_MAX_THREADS = 1024

Device = Literal["cpu", "cuda"]
GraphOptimization = Literal["disabled", "basic", "extended", "layout", "all"]
ExecutionMode = Literal["sequential", "parallel"]
ExecutionOrder = Literal["default", "priority", "memory_efficient"]
ConvolutionSearch = Literal["exhaustive", "heuristic", "default"]
AttentionKernel = Literal["default", "flash", "efficient", "cudnn", "math"]
ArenaGrowth = Literal["power_of_two", "same_as_requested"]


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Runtime options of one variant. An instance is always consistent.

    Raises:
        ConfigError: if a value is impossible or two contradict each other.
    """

    device: Device = field(
        default="cpu", metadata=about("where the model runs", choices=get_args(Device))
    )
    graph_optimization: GraphOptimization = field(
        default="disabled",
        metadata=about(
            "the runtime's own rewrites; disabled, so that the file itself is what is measured",
            choices=get_args(GraphOptimization),
        ),
    )
    intra_threads: int = field(
        default=1,
        metadata=about("threads inside one operator; 0 is one a physical core", high=_MAX_THREADS),
    )
    inter_threads: int = field(
        default=1,
        metadata=about(
            "operators at a time in parallel mode; 0 is one a physical core", high=_MAX_THREADS
        ),
    )
    spinning: bool = field(
        default=False,
        metadata=about(
            "idle threads burn their core while they wait: faster alone, unfair to neighbours"
        ),
    )
    execution_mode: ExecutionMode = field(
        default="sequential",
        metadata=about(
            "one operator after the other, or independent ones at a time",
            choices=get_args(ExecutionMode),
        ),
    )
    execution_order: ExecutionOrder = field(
        default="default",
        metadata=about(
            "in which order operators that are ready run", choices=get_args(ExecutionOrder)
        ),
    )
    memory_pattern: bool = field(
        default=True,
        metadata=about(
            "plan one block for all activations after the first run of each input shape"
        ),
    )
    memory_reuse: bool = field(
        default=True, metadata=about("let operators write into buffers that are no longer needed")
    )
    prepacking: bool = field(
        default=True,
        metadata=about("store a second copy of weights in the layout that kernels like best"),
    )
    deterministic: bool = field(
        default=False, metadata=about("prefer kernels that give the same bits every time")
    )
    gelu_approximation: bool = field(
        default=False,
        metadata=about(
            "let the runtime replace Gelu by its tanh approximation (not the same numbers)"
        ),
    )
    cpu_arena: bool = field(
        default=True, metadata=about("keep freed memory for the next request", group="cpu")
    )
    denormals_as_zero: bool = field(
        default=False,
        metadata=about("treat numbers too small for full precision as zero", group="cpu"),
    )
    dynamic_blocks: int = field(
        default=0,
        metadata=about(
            "split an operator's work into shrinking blocks of this base; 0 splits evenly",
            group="cpu",
            high=64,
        ),
    )
    device_id: int = field(default=0, metadata=about("which GPU", group="cuda", high=63))
    cpu_fallback: bool = field(
        default=True,
        metadata=about("let operators without a GPU kernel run on the CPU", group="cuda"),
    )
    cuda_graph: bool = field(
        default=False,
        metadata=about("capture all kernel launches once and replay them as one", group="cuda"),
    )
    convolution_search: ConvolutionSearch = field(
        default="exhaustive",
        metadata=about(
            "how cuDNN finds a convolution algorithm: try all, estimate, or take the first",
            group="cuda",
            choices=get_args(ConvolutionSearch),
        ),
    )
    convolution_workspace: bool = field(
        default=True,
        metadata=about(
            "allow convolution algorithms as much scratch memory as they want", group="cuda"
        ),
    )
    pad_1d_convolutions: bool = field(
        default=False,
        metadata=about(
            "run 1-D convolutions as [N, C, 1, D] instead of [N, C, D, 1]", group="cuda"
        ),
    )
    prefer_nhwc: bool = field(
        default=False, metadata=about("convolutions in channels-last layout", group="cuda")
    )
    tf32: bool = field(
        default=True,
        metadata=about("float32 products on tensor cores with a 10-bit mantissa", group="cuda"),
    )
    fuse_convolution_bias: bool = field(
        default=False,
        metadata=about("add bias and activation inside cuDNN's convolution", group="cuda"),
    )
    attention_kernel: AttentionKernel = field(
        default="default",
        metadata=about(
            "which kernel fused attention uses", group="cuda", choices=get_args(AttentionKernel)
        ),
    )
    arena_growth: ArenaGrowth = field(
        default="power_of_two",
        metadata=about(
            "how much GPU memory the arena takes when it grows",
            group="cuda",
            choices=get_args(ArenaGrowth),
        ),
    )
    gpu_memory_mib: int = field(
        default=0,
        metadata=about(
            "limit of the GPU memory arena in MiB; 0 is none", group="cuda", high=1 << 20
        ),
    )
    copy_in_default_stream: bool = field(
        default=True, metadata=about("copies share the stream of the computation", group="cuda")
    )
    tune_kernels: bool = field(
        default=False,
        metadata=about(
            "try implementations of matrix products at run time and keep the best", group="cuda"
        ),
    )

    def __post_init__(self) -> None:
        for option in options():
            check_value(option, getattr(self, option.name))
        problems = contradictions(self)
        if problems:
            raise ConfigError(problems[0])

    def changed(self) -> dict[str, Value]:
        """Options that are not at their default."""
        return {
            option.name: getattr(self, option.name)
            for option in options()
            if getattr(self, option.name) != option.default
        }


@functools.cache
def options() -> tuple[Option, ...]:
    """All options, in the order of the fields."""
    found: list[Option] = []
    for item in dataclasses.fields(RunConfig):
        default: Any = item.default
        found.append(Option(item.name, default=default, **item.metadata))
    return tuple(found)


def contradictions(config: RunConfig) -> list[str]:
    """What cannot be meant, each with what to do about it."""
    rules: list[tuple[bool, str]] = [
        (
            config.execution_mode == "parallel" and config.inter_threads == 1,
            "execution_mode=parallel needs more than one of inter_threads; set inter_threads=0.",
        ),
        (
            config.execution_mode == "sequential" and config.inter_threads != 1,
            "inter_threads counts in parallel mode only; set execution_mode=parallel.",
        ),
        (
            config.execution_mode == "parallel" and config.memory_pattern,
            "In parallel mode the runtime cannot plan memory; set memory_pattern=false.",
        ),
        (
            config.spinning and config.intra_threads == 1 and config.inter_threads == 1,
            "With one thread there is nobody to spin; set intra_threads=0 or spinning=false.",
        ),
        (
            config.gelu_approximation and config.graph_optimization in ("disabled", "basic"),
            "gelu_approximation is one of the runtime's rewrites; set graph_optimization=extended.",
        ),
        (
            config.cuda_graph and config.execution_mode == "parallel",
            "A CUDA graph is captured from one stream; set execution_mode=sequential.",
        ),
        (
            config.cuda_graph and config.tune_kernels,
            "Kernels cannot be tuned while they are captured; set tune_kernels=false.",
        ),
    ]
    found = [sentence for broken, sentence in rules if broken]
    if config.device != "cuda":
        found += [
            f"{option.name} counts on a GPU only; set device=cuda."
            for option in options()
            if option.group == "cuda" and getattr(config, option.name) != option.default
        ]
    return found
