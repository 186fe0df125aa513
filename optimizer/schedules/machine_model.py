"""What a processor takes for the parts that loops consist of."""

from __future__ import annotations

from dataclasses import dataclass

from optimizer.limits import MIB


@dataclass(frozen=True, slots=True)
class MemoryLevel:
    """A cache, and what lies behind it.

    Attributes:
        size_bytes: of the cache.
        behind_bytes_per_s: at which one thread gets and gives what lies behind it.
        shared: whether all threads share what is behind it.
    """

    name: str
    size_bytes: int
    behind_bytes_per_s: float
    shared: bool = False


@dataclass(frozen=True, slots=True)
class MachineModel:
    """A processor in a few numbers.

    Attributes:
        name: what it is, as in "guessed for …".
        source: where its numbers are from, one sentence.
        threads: that rounds of a parallel loop run on.
        vector_bytes: that one unit of the processor does at once; an instruction may be longer.
        lanes: of float32 in the longest instruction.
        operation_ns: one vector operation after the other, none waiting for the one before.
        access_ns: the same of loads and stores.
        latency_ns: of an operation that the next one waits for.
        round_ns: counting a round of a loop and jumping back.
        loop_ns: beginning a loop, and the jump at its end.
        far_ns: a line from behind the first cache, so far from the one before that nothing
            fetched it ahead.
        memory_ns: a line from memory, the same.
        window: instructions that are under way at a time.
        task_us: handing a round of a parallel loop to a thread.
        levels: the smallest cache first.
    """

    name: str
    source: str
    threads: int
    vector_bytes: int
    lanes: int
    operation_ns: float
    access_ns: float
    latency_ns: float
    round_ns: float
    loop_ns: float
    far_ns: float
    memory_ns: float
    window: int
    task_us: float
    levels: tuple[MemoryLevel, ...]


USUAL = MachineModel(
    "a usual server core",
    "A server core at 3.7 GHz that does two operations or accesses of 32 bytes in a cycle, three "
    "cycles until a sum can be added to again, 320 instructions under way; caches of the meters, "
    "behind them 128, 64 and 16 bytes a nanosecond, memory 100 ns away. From what is published of "
    "Zen 4; far_ns fits three loops measured on one (docs/schedules.md).",
    threads=2,
    vector_bytes=32,
    lanes=16,
    operation_ns=0.135,
    access_ns=0.135,
    latency_ns=0.81,
    round_ns=0.27,
    loop_ns=0.5,
    far_ns=2.5,
    memory_ns=100.0,
    window=320,
    task_us=0.5,
    levels=(
        MemoryLevel("L1", 32 << 10, 128e9),
        MemoryLevel("L2", MIB, 64e9),
        MemoryLevel("L3", 32 * MIB, 16e9, shared=True),
    ),
)
"""Where nothing was measured."""
