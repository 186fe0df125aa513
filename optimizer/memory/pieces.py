"""Pieces of memory: tensors that share their bytes whatever the order of the nodes.

A piece is a tensor with all its views. It belongs to the caller as soon as an input or an output of
the graph is in it; two outputs, or an input and an output, are never the same piece. What may be
written over what in addition depends on the order: `written_over` says who may, `Walk` who is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from optimizer.errors import PlanError, quoted
from optimizer.memory.arena import LifetimeOptions
from optimizer.memory.buffer import aligned
from optimizer.memory.program import NOTHING, Operation, Program, Tensor
from optimizer.memory.sizes import KnownSizes
from optimizer.numbers import counted


@dataclass(slots=True)
class MemoryPiece:
    """A piece of memory.

    Attributes:
        tensors: positions of its tensors in the program, as they are made in list order.
        size_bytes: not aligned; None where it is unknown.
        planned: whether it is an activation, and not the caller's.
        maker: position of the operation that makes the first tensor; `NOTHING` for inputs.
        readers: positions of the operations that read any of its tensors, in list order.
        taken: its aligned size if it counts and is known, else 0.
    """

    tensors: list[int]
    size_bytes: int | None
    planned: bool
    maker: int
    readers: list[int]
    taken: int = 0


@dataclass(slots=True)
class Pieces:
    """The pieces of a program.

    Attributes:
        program: the program.
        pieces: by first tensor.
        makes: for each operation the pieces it makes.
        reads: for each operation the different pieces it reads.
        written_over: for each operation the pieces that the first one it makes may replace.
    """

    program: Program
    pieces: list[MemoryPiece]
    makes: list[tuple[int, ...]]
    reads: list[tuple[int, ...]]
    written_over: list[tuple[int, ...]]


def pieces_of(program: Program, options: LifetimeOptions, *, outputs: bool = False) -> Pieces:
    """Group the tensors of a program.

    Args:
        program: of a graph.
        options: what may share memory.
        outputs: whether the graph's outputs count beside the activations.
    """
    pieces: list[MemoryPiece] = []
    place = _grouped(program, options, pieces)
    found = Pieces(program, pieces, [], [], [])
    for index, operation in enumerate(program.operations):
        makes = tuple(p for t in operation.makes if pieces[p := place[t]].tensors[0] == t)
        reads = tuple(dict.fromkeys([place[tensor] for tensor in operation.reads]))
        for piece in reads:
            pieces[piece].readers.append(index)
        found.makes.append(makes)
        found.reads.append(reads)
        over = _replaced(operation, makes, place, pieces) if options.in_place else ()
        found.written_over.append(over)
    for piece in pieces:
        if piece.planned or (outputs and piece.maker != NOTHING):
            piece.taken = aligned(piece.size_bytes or 0, options.alignment)
    return found


def _grouped(program: Program, options: LifetimeOptions, pieces: list[MemoryPiece]) -> list[int]:
    """Make the pieces; for each tensor the position of its own."""
    place = [NOTHING] * len(program.tensors)
    for position, tensor in enumerate(program.tensors):
        if tensor.role == "input":
            place[position] = len(pieces)
            pieces.append(MemoryPiece([position], tensor.size_bytes, False, NOTHING, []))
    for index, operation in enumerate(program.operations):
        for position in operation.makes:
            tensor = program.tensors[position]
            source = operation.looks_at if position == operation.makes[0] else NOTHING
            if options.views and source != NOTHING and _joins(tensor, pieces[place[source]]):
                place[position] = place[source]
                pieces[place[source]].tensors.append(position)
                continue
            place[position] = len(pieces)
            planned = tensor.role == "made"
            pieces.append(MemoryPiece([position], tensor.size_bytes, planned, index, []))
    return place


def _joins(tensor: Tensor, piece: MemoryPiece) -> bool:
    """Whether a view can be in the piece of what it looks at; it is put there."""
    if tensor.role == "output":
        if not piece.planned:
            return False  # the caller wants the output in memory of its own
        piece.planned = False
    if piece.size_bytes is None:
        piece.size_bytes = tensor.size_bytes  # a view may be known where its source is not
    return True


def _replaced(
    operation: Operation, makes: tuple[int, ...], place: list[int], pieces: list[MemoryPiece]
) -> tuple[int, ...]:
    """The pieces that the first one made may replace; the caller's memory is left alone."""
    if not operation.writes_over or not makes or place[operation.makes[0]] != makes[0]:
        return ()
    if not pieces[makes[0]].planned:
        return ()
    return tuple(p for t in operation.writes_over if pieces[p := place[t]].planned)


@dataclass(slots=True)
class MemoryChange:
    """What an operation does to the planned memory, in some order.

    Attributes:
        operation: its position.
        live_bytes: alive while it runs.
        left_bytes: alive afterwards.
        replaced: the piece that its first result is written over; `NOTHING` where it is new.
        dying: the planned pieces that are needed no more.
    """

    operation: int
    live_bytes: int
    left_bytes: int
    replaced: int
    dying: list[int]


def walk(pieces: Pieces, order: Sequence[int]) -> Iterator[MemoryChange]:
    """Run the operations in this order, and watch the memory.

    Args:
        pieces: of a program.
        order: every operation once, none before what it reads.
    """
    known = pieces.pieces
    waiting = [len(piece.readers) for piece in known]
    live = 0
    for index in order:
        makes, reads = pieces.makes[index], pieces.reads[index]
        over = pieces.written_over[index]
        replaced = next((p for p in over if waiting[p] == 1), NOTHING)
        made = sum(known[piece].taken for piece in makes)
        live += made
        most = live
        if replaced != NOTHING:
            most -= known[replaced].taken
        dying = [piece for piece in makes if not waiting[piece] and known[piece].planned]
        for piece in reads:
            waiting[piece] -= 1
            if not waiting[piece] and known[piece].planned:
                dying.append(piece)
        live -= sum(known[piece].taken for piece in dying)
        yield MemoryChange(index, most, live, replaced, dying)


def peak_bytes(pieces: Pieces, order: Sequence[int]) -> int:
    """The most that is alive at once in this order."""
    return max((moment.live_bytes for moment in walk(pieces, order)), default=0)


def check_known(pieces: Pieces, measure: KnownSizes) -> None:
    """Refuse activations of unknown size.

    Raises:
        PlanError: with the first value and the reason.
    """
    missing = [piece for piece in pieces.pieces if piece.planned and piece.size_bytes is None]
    if missing:
        value = pieces.program.tensors[missing[0].tensors[0]].value
        sizes = counted(len(missing), "size is", "sizes are")
        raise PlanError(
            f"{sizes} unknown, first that of {quoted(value.name or '')}:"
            f" {measure.why(value)}. Without them no peak can be told."
        )
