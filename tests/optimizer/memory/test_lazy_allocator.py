from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given

from optimizer.errors import PlanError
from optimizer.memory.buffer import Buffer
from optimizer.memory.lazy_allocator import AllocatorEvent, LazyAllocator, film, place_in_time
from optimizer.memory.plan import check_plan
from tests.optimizer.memory.random_buffers import drawn_buffers


def kinds(events: Sequence[AllocatorEvent]) -> list[str]:
    return [event.kind for event in events]


def test_every_kind_of_event_in_one_short_story() -> None:
    allocator = LazyAllocator((events := list[AllocatorEvent]()).append)
    a = allocator.allocate(8, name="a")
    b = allocator.allocate(4, name="b")
    c = allocator.allocate(4, name="c")
    allocator.free(a)
    assert allocator.allocate(6) == a  # [6, 8) is left
    assert allocator.allocate(2) == 6
    allocator.free(c)
    assert allocator.allocate(10) == c  # grows from 16 to 22
    allocator.free(b)
    allocator.free(6)
    assert kinds(events) == [
        *("allocate", "allocate", "allocate", "free", "split", "reuse", "free", "grow"),
        *("free", "merge"),
    ]
    assert events[-1].removed == ((8, 4),)
    assert events[-1].added == ((6, 6),)
    assert (allocator.peak_bytes, allocator.used_bytes) == (22, 16)
    assert allocator.free_blocks == ((6, 6),)


def test_a_freed_block_merges_with_both_neighbours() -> None:
    allocator = LazyAllocator((events := list[AllocatorEvent]()).append)
    offsets = [allocator.allocate(4) for _ in range(4)]
    allocator.free(offsets[0])
    allocator.free(offsets[2])
    allocator.free(offsets[1])
    assert events[-1].removed == ((0, 4), (8, 4))
    assert allocator.free_blocks == ((0, 12),)


def test_best_fit_takes_the_smallest_block_and_the_lowest_of_equals() -> None:
    allocator = LazyAllocator()
    sizes = [12, 1, 8, 1, 8, 1]
    offsets = [allocator.allocate(size) for size in sizes]
    for offset in offsets[::2]:
        allocator.free(offset)
    assert allocator.allocate(7) == offsets[2]


def test_what_was_never_allocated_cannot_be_freed() -> None:
    allocator = LazyAllocator()
    offset = allocator.allocate(4)
    allocator.free(offset)
    with pytest.raises(PlanError, match="offset 0"):
        allocator.free(offset)
    with pytest.raises(PlanError, match="0 bytes"):
        allocator.allocate(0)


def test_bytes_of_a_buffer_that_ends_go_to_one_that_starts_at_the_same_step() -> None:
    buffers = [Buffer("a", 64, 0, 2), Buffer("b", 64, 2, 4)]
    assert place_in_time(buffers, LazyAllocator()) == [0, 0]
    assert kinds(film(buffers)) == ["allocate", "free", "reuse", "free"]


@given(drawn_buffers())
def test_the_film_alone_rebuilds_the_plan_and_the_free_list(buffers: list[Buffer]) -> None:
    """Replayed without the allocator: bytes of the arena one by one, and the deltas of the film."""
    states: list[tuple[tuple[int, int], ...]] = []
    events: list[AllocatorEvent] = []

    def keep(event: AllocatorEvent) -> None:
        events.append(event)
        states.append(allocator.free_blocks)

    allocator = LazyAllocator(keep)
    offsets = place_in_time(buffers, allocator)
    check_plan(buffers, offsets)
    assert tuple(events) == film(buffers)
    place = {buffer.name: at for buffer, at in zip(buffers, offsets, strict=True)}
    free: set[tuple[int, int]] = set()
    owner: dict[int, str] = {}
    peak = 0
    for event, state in zip(events, states, strict=True):
        assert event.offset == place[event.buffer]
        cells = range(event.offset, event.offset + event.size_bytes, 64)
        if event.kind in ("free", "merge"):
            assert all(owner.pop(cell) == event.buffer for cell in cells)
        else:
            assert not owner.keys() & set(cells)
            owner.update(dict.fromkeys(cells, event.buffer))
            peak = max(peak, event.offset + event.size_bytes)
        assert free.issuperset(event.removed)
        free = (free - set(event.removed)) | set(event.added)
        assert tuple(sorted(free)) == state == _gaps(owner, peak)
        assert (event.peak_bytes, event.used_bytes) == (peak, 64 * len(owner))
    assert not owner


def _gaps(owner: dict[int, str], peak: int) -> tuple[tuple[int, int], ...]:
    """The runs of cells of 64 bytes that nobody owns."""
    gaps: list[tuple[int, int]] = []
    for cell in range(0, peak, 64):
        if cell in owner:
            continue
        if gaps and sum(gaps[-1]) == cell:
            gaps[-1] = (gaps[-1][0], gaps[-1][1] + 64)
        else:
            gaps.append((cell, 64))
    return tuple(gaps)


@given(drawn_buffers(most=20))
def test_the_film_runs_backwards_too(buffers: list[Buffer]) -> None:
    free: set[tuple[int, int]] = set()
    before: list[set[tuple[int, int]]] = []
    events = film(buffers)
    for event in events:
        before.append(set(free))
        free = (free - set(event.removed)) | set(event.added)
    for event, expected in zip(reversed(events), reversed(before), strict=True):
        free = (free - set(event.added)) | set(event.removed)
        assert free == expected
