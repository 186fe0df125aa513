"""An allocator that meets buffers one by one, as a run does, and tells what it does.

Nothing is allocated for real: it finds offsets in an arena that grows, and the arena is allocated
once, at its peak. Every call makes one `AllocatorEvent`; these alone rebuild each state, forwards
and backwards, because each carries the free blocks that it removed and added.

Source: InfiniTensor's LazyAllocator (free blocks in a balanced tree by size, maps from their heads
and tails, a tail that grows).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from sortedcontainers import SortedList

from optimizer.errors import PlanError
from optimizer.memory.buffer import Buffer

EventKind = Literal["allocate", "reuse", "split", "grow", "free", "merge"]
"""What became of a request.

An allocation either extends the arena (`allocate`), takes a free block as it is (`reuse`) or its
lower end (`split`), or takes the free block at the end of the arena and extends it (`grow`). What
is freed becomes a free block (`free`), or one with its free neighbours (`merge`).
"""

Block = tuple[int, int]
"""A free block: offset, bytes."""


@dataclass(frozen=True, slots=True)
class AllocatorEvent:
    """One call of the allocator and the state after it.

    Attributes:
        step: at which step of the run.
        kind: what happened.
        buffer: name of the buffer that came or went.
        offset: where the buffer lies.
        size_bytes: of the buffer.
        peak_bytes: size of the arena after it; it never shrinks.
        used_bytes: what is allocated after it.
        removed: free blocks that are no more.
        added: free blocks that came into being, at most one.
    """

    step: int
    kind: EventKind
    buffer: str
    offset: int
    size_bytes: int
    peak_bytes: int
    used_bytes: int
    removed: tuple[Block, ...]
    added: tuple[Block, ...]


class LazyAllocator:
    """Places what comes, remembers what is free.

    Free blocks are kept by (size, offset), so that the best one is found in O(log n), and by head
    and by tail, so that the neighbours of a freed block are found in O(1). No two of them touch.
    """

    def __init__(self, on_event: Callable[[AllocatorEvent], None] | None = None) -> None:
        self.peak_bytes = 0
        self.used_bytes = 0
        self._on_event = on_event
        self._by_size: SortedList[tuple[int, int]] = SortedList()
        self._size_at_head: dict[int, int] = {}
        self._size_at_tail: dict[int, int] = {}
        self._live: dict[int, tuple[str, int]] = {}

    @property
    def free_blocks(self) -> tuple[Block, ...]:
        """What is free below the peak, by offset."""
        return tuple(sorted(self._size_at_head.items()))

    def allocate(self, size_bytes: int, *, name: str = "", step: int = 0) -> int:
        """Find room for `size_bytes` bytes.

        Returns:
            The offset.

        Raises:
            PlanError: `size_bytes` is not positive.
        """
        if size_bytes <= 0:
            raise PlanError(f"{size_bytes} bytes cannot be allocated; ask for at least one.")
        block = self._block_for(size_bytes) or self._tail()
        offset, free_bytes = block or (self.peak_bytes, 0)
        if block is not None:
            self._remove(block)
        added: tuple[Block, ...] = ()
        if free_bytes > size_bytes:
            added = ((offset + size_bytes, free_bytes - size_bytes),)
            self._add(added[0])
        self.peak_bytes = max(self.peak_bytes, offset + size_bytes)
        self._live[offset] = name, size_bytes
        self.used_bytes += size_bytes
        kind: EventKind = "split" if added else "reuse"
        if free_bytes < size_bytes:
            kind = "grow" if block else "allocate"
        removed = () if block is None else (block,)
        self._tell(step, kind, (name, offset, size_bytes), removed=removed, added=added)
        return offset

    def free(self, offset: int, *, step: int = 0) -> None:
        """Give back what was allocated at `offset`.

        Raises:
            PlanError: nothing is allocated there.
        """
        if offset not in self._live:
            raise PlanError(f"Nothing is allocated at offset {offset}; it cannot be freed.")
        name, size_bytes = self._live.pop(offset)
        self.used_bytes -= size_bytes
        removed: tuple[Block, ...] = ()
        low, high = offset, offset + size_bytes
        if below := self._size_at_tail.get(low):
            low -= below
            removed += ((low, below),)
        if above := self._size_at_head.get(high):
            removed += ((high, above),)
            high += above
        for block in removed:
            self._remove(block)
        merged = (low, high - low)
        self._add(merged)
        kind: EventKind = "merge" if removed else "free"
        self._tell(step, kind, (name, offset, size_bytes), removed=removed, added=(merged,))

    def _block_for(self, size_bytes: int) -> Block | None:
        """The smallest free block that is large enough, the lowest of equals."""
        fitting = self._by_size.irange((size_bytes, -1))
        free_bytes, offset = next(fitting, (0, 0))
        return (offset, free_bytes) if free_bytes else None

    def _tail(self) -> Block | None:
        """The free block at the end of the arena."""
        size_bytes = self._size_at_tail.get(self.peak_bytes)
        return None if size_bytes is None else (self.peak_bytes - size_bytes, size_bytes)

    def _add(self, block: Block) -> None:
        offset, size_bytes = block
        self._by_size.add((size_bytes, offset))
        self._size_at_head[offset] = size_bytes
        self._size_at_tail[offset + size_bytes] = size_bytes

    def _remove(self, block: Block) -> None:
        offset, size_bytes = block
        self._by_size.remove((size_bytes, offset))
        del self._size_at_head[offset]
        del self._size_at_tail[offset + size_bytes]

    def _tell(
        self,
        step: int,
        kind: EventKind,
        what: tuple[str, int, int],
        *,
        removed: tuple[Block, ...],
        added: tuple[Block, ...],
    ) -> None:
        if self._on_event is not None:
            after = self.peak_bytes, self.used_bytes
            self._on_event(AllocatorEvent(step, kind, *what, *after, removed=removed, added=added))


def place_in_time(buffers: Sequence[Buffer], allocator: LazyAllocator) -> list[int]:
    """Let the buffers come and go, step by step.

    At a step first everything is freed that ends there, then everything is allocated that starts
    there, each in the order of `buffers`: the bytes of a buffer [a, b) may go to one that starts at
    b. Buffers without bytes or steps take no part; their offset is 0.

    Returns:
        The offsets.
    """
    real = [i for i, buffer in enumerate(buffers) if buffer.steps > 0 and buffer.size_bytes > 0]
    calls = [(buffers[i].end, 0, i) for i in real] + [(buffers[i].start, 1, i) for i in real]
    offsets = [0] * len(buffers)
    for step, starts, i in sorted(calls):
        if starts:
            buffer = buffers[i]
            offsets[i] = allocator.allocate(buffer.size_bytes, name=buffer.name, step=step)
        else:
            allocator.free(offsets[i], step=step)
    return offsets


def film(buffers: Sequence[Buffer]) -> tuple[AllocatorEvent, ...]:
    """Everything the allocator does for these buffers, two events for each."""
    events: list[AllocatorEvent] = []
    place_in_time(buffers, LazyAllocator(events.append))
    return tuple(events)
