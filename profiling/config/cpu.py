"""Options of the CPU provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from profiling.config.option import about
from profiling.config.session import SessionFields

ArenaGrowth = Literal["power_of_two", "same_as_requested"]


@dataclass(frozen=True, slots=True)
class CpuFields(SessionFields):
    """Fields of `RunConfig` in the group `cpu`."""

    cpu_arena: bool = field(
        default=True,
        metadata=about(
            "Memory arena",
            "keep freed memory for the next request",
            "SessionOptions.enable_cpu_mem_arena",
        ),
    )
    cpu_arena_growth: ArenaGrowth = field(
        default="power_of_two",
        metadata=about(
            "Arena growth",
            "how much memory the arena takes when it grows",
            "session.use_env_allocators",
            choices=get_args(ArenaGrowth),
        ),
    )
    denormals_as_zero: bool = field(
        default=False,
        metadata=about(
            "Denormals as zero",
            "treat numbers too small for full precision as zero",
            "session.set_denormal_as_zero",
        ),
    )
    dynamic_blocks: int = field(
        default=0,
        metadata=about(
            "Dynamic block base",
            "split an operator's work into shrinking blocks of this base; 0 splits evenly",
            "session.dynamic_block_base",
            high=64,
        ),
    )
    lut_gemm: bool = field(
        default=False,
        metadata=about(
            "Lookup-table GEMM",
            "look up products with 2-bit weights in a table",
            "mlas.use_lut_gemm",
        ),
    )
