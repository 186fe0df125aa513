"""Options of the CPU provider."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from profiling.config.option import choice, number, switch
from profiling.config.session import SessionFields

ArenaGrowth = Literal["power_of_two", "same_as_requested"]


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
