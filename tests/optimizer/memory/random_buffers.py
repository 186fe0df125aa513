"""Buffers drawn by hypothesis, and the smallest arena for few of them found by trying all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from hypothesis import strategies as st

from optimizer.memory.buffer import Buffer


def drawn_buffers(
    *, most: int = 40, last_step: int = 12, largest: int = 8, unit: int = 64
) -> st.SearchStrategy[list[Buffer]]:
    """Random lives on few steps, sizes that often fit exactly; some empty, some without a life."""
    life = st.tuples(st.integers(0, largest), st.integers(0, last_step), st.integers(0, 6))
    return st.lists(life, max_size=most).map(
        lambda lives: [
            Buffer(f"b{i}", size * unit, start, start + steps)
            for i, (size, start, steps) in enumerate(lives)
        ]
    )


def smallest_peak(buffers: Sequence[Buffer]) -> int:
    """The smallest arena, by trying every order in which buffers can be dropped on each other.

    Press a plan of the smallest arena down: each buffer lies at 0 or on top of one that it meets.
    Dropping the buffers by their offsets, each onto the highest that it meets, rebuilds it. So the
    smallest arena is among the n! orders of dropping; those that built the same tops are one.
    """
    real = [buffer for buffer in buffers if buffer.steps > 0 and buffer.size_bytes > 0]
    steps = sorted({buffer.start for buffer in real})

    @cache
    def peak_of(left: frozenset[int], tops: tuple[int, ...]) -> int:
        if not left:
            return max(tops, default=0)
        return min(peak_of(left - {i}, dropped(real[i], tops)) for i in left)

    def dropped(buffer: Buffer, tops: tuple[int, ...]) -> tuple[int, ...]:
        lives = [buffer.start <= step < buffer.end for step in steps]
        top = buffer.size_bytes + max(t for t, alive in zip(tops, lives, strict=True) if alive)
        return tuple(top if alive else t for t, alive in zip(tops, lives, strict=True))

    return peak_of(frozenset(range(len(real))), (0,) * len(steps))
