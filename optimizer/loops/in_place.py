"""Which inputs' memory an output may take: nothing is read there once it was overwritten.

That holds where every element is read in the round that writes it, or before: by the loops that
write, at the same place; by what is kept for a round, within the rows of that round, since all of
it is computed before the round writes. What overlaps (`shift_inwards`) or is copied first (`In`)
is left alone, and so are several outputs, of which one may be written while another is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from optimizer.loops.algorithm import Algorithm, LoopAxis
from optimizer.loops.outputs import output_nests
from optimizer.loops.reach import Place
from optimizer.loops.scalar import Scalar, Var
from optimizer.loops.schedule import In, Split
from optimizer.loops.scheduling import RoundLoops, default_schedule, vector_width


def in_place_inputs(algorithm: Algorithm, vector_bits: int) -> Iterator[int]:
    """Numbers of the inputs that may be overwritten under the default schedule.

    Args:
        algorithm: of the kernel.
        vector_bits: that the schedule is for.

    Raises:
        NoSchedule: there is none.
    """
    if len(algorithm.outputs) != 1 or _overlaps(algorithm, vector_bits):
        return
    (nest,) = output_nests(algorithm)
    made = algorithm.by_name[algorithm.outputs[0]]
    rounds = RoundLoops(algorithm, nest, vector_width(algorithm, nest, vector_bits))
    outside = {one.func.name: rounds.around(one) for one in rounds.kept}
    for number, tensor in enumerate(algorithm.inputs):
        reads = rounds.reach.reads.get(tensor.name, {})
        alike = (tensor.dtype, tensor.shape) == (made.dtype, made.shape)
        if alike and all(
            _is_here(at, nest.axes)
            if reader == nest.name
            else _is_inside(at, nest.axes, outside[reader], rounds.reach.places[reader])
            for reader, at in reads
        ):
            yield number


def _overlaps(algorithm: Algorithm, vector_bits: int) -> bool:
    """Whether elements are written twice, or read through a copy."""
    return any(
        isinstance(one, In) or (isinstance(one, Split) and one.tail == "shift_inwards")
        for one in default_schedule(algorithm, vector_bits).primitives
    )


def _is_here(at: Place, axes: Sequence[LoopAxis]) -> bool:
    """Whether the loops that write read at the place that they write."""
    return all(axis.extent == 1 or one == axis.var for one, axis in zip(at, axes, strict=True))


def _is_inside(
    at: Place,
    axes: Sequence[LoopAxis],
    around: frozenset[str],
    places: Mapping[str, str | None],
) -> bool:
    """Whether what is kept for a round reads within what the round writes.

    Args:
        at: where it reads, in its own variables.
        axes: of the output.
        around: the loops that the round is one of.
        places: which loop each axis of what is kept follows.
    """
    return all(
        axis.extent == 1 or axis.name not in around or _followed(one, places) == axis.name
        for one, axis in zip(at, axes, strict=True)
    )


def _followed(index: Scalar, places: Mapping[str, str | None]) -> str | None:
    return places.get(index.name) if isinstance(index, Var) else None
