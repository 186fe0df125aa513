"""Is a Transpose over fewer axes slower anywhere than as it was written?

    python -m benchmarks.transposes [FOLDER...] [--write FILE]

Every Transpose of the gallery and of the `.onnx` files of the folders, once for each shape, after
the default passes: between a copy of the input and a Slice of the result's first element, as it is
written; the same as `reduce-transposes` writes it (two Reshapes more); the same without it; and a
plain copy of as many bytes by numpy. The four take turns in one process, in one thread, into
memory that is there before; what the model without a Transpose takes is taken off. The table has
medians over all turns in GB/s (what is read and what is written), and how many times as fast the
reduced one is, with its 95 % interval by bootstrap. Last come those that stay far below a copy:
they need another kernel, not another shape.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from benchmarks.machine import describe
from benchmarks.models import opened
from benchmarks.report import MIB, parser, publish, rows_of, section
from benchmarks.transpose_turns import turns
from optimizer.cost.sizes import Sizes
from optimizer.dimension import Dimension
from optimizer.layout.transposition import Transposition
from optimizer.limits import JobLimits
from optimizer.model.graph import walk_nodes
from optimizer.model.loader import load_bytes
from optimizer.model.writer import to_bytes
from optimizer.operators.call import in_numbers
from optimizer.passes.layout.reduce_transposes import ReduceTransposes
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.source import complete
from profiling.workers import default_pool

Us = tuple[float, float, float]
LEAST_US = 0.1
FAR = 0.3
"""Of a plain copy's rate: what is slower is far from it."""


@dataclass(frozen=True, slots=True)
class Found:
    """A Transpose in numbers.

    Attributes:
        model: in which it was seen first.
        moves: the shape of its input and its permutation.
        dtype: of its elements.
    """

    model: str
    moves: Transposition
    dtype: ir.DataType

    @property
    def moved_bytes(self) -> int:
        """Read and written."""
        return 2 * prod(sizes_of(self.moves.shape)) * self.dtype.bitwidth // 8


@dataclass(frozen=True, slots=True)
class Row:
    """One Transpose measured.

    Attributes:
        us: microseconds: as written, reduced, a plain copy; medians over all turns.
        gain: how many times as fast the reduced one is, and the interval.
    """

    found: Found
    us: Us
    gain: Us

    def rates(self) -> list[float]:
        """GB/s as written, reduced, of a plain copy."""
        return [self.found.moved_bytes / us / 1e3 for us in self.us]

    @property
    def share(self) -> float:
        """What part of a copy's rate the reduced one reaches."""
        return self.us[2] / self.us[1]


def transposes(folders: Sequence[Path]) -> Iterator[tuple[str, Found]]:
    """Those of all models, each once."""
    seen: set[tuple[Transposition, ir.DataType]] = set()
    for name, loaded in opened(folders):
        model = complete(loaded, isolate=default_pool())
        optimize(model, Pipeline.of("default"))
        sizes = Sizes.of(model.ir.graph)
        for node in walk_nodes(model.ir.graph):
            if node.op_type != "Transpose" or node.domain or node.inputs[0] is None:
                continue
            shape, dtype = sizes.shape(node.inputs[0]), node.inputs[0].dtype
            if shape is None or 0 in shape or dtype is None:
                continue
            perm = node.attributes.get("perm")
            order = tuple(reversed(range(len(shape)))) if perm is None else tuple(perm.as_ints())
            moves = Transposition(shape, order)
            if moves.moves and (moves, dtype) not in seen:
                seen.add((moves, dtype))
                yield f"{name} {list(shape)} {list(order)}", Found(name, moves, dtype)


def row(name: str, found: Found) -> Row:
    """Measure one.

    Raises:
        StudioError: the runtime has no Transpose of this type.
    """
    empty, written = (_model(found, transposed=one) for one in (False, True))
    model = load_bytes(written, name=name)
    optimize(model, Pipeline((ReduceTransposes(least_bytes=0),)))
    with default_pool().measuring() as workers:
        times = workers.worker().run(
            turns, empty, written, to_bytes(model.ir), limits=JobLimits(seconds=120)
        )
    return Row(found, *compared(np.array(times)))


def compared(turns: NDArray[np.float64]) -> tuple[Us, Us]:
    """Medians of a Transpose in both ways and of a copy, and the gain with its interval.

    Args:
        turns: microseconds of shape [4, turns]: without a Transpose, as written, reduced, a copy.
    """
    picks = np.random.default_rng(0).integers(0, turns.shape[1], (2000, turns.shape[1]))
    empty, written, reduced, copy = np.median(turns, axis=1)
    draws = np.median(turns[:3, picks], axis=2)
    gains = (draws[1] - draws[0]) / np.maximum(draws[2] - draws[0], LEAST_US)
    low, high = np.quantile(gains, (0.025, 0.975))
    us = (max(written - empty, LEAST_US), max(reduced - empty, LEAST_US), copy)
    return us, (us[0] / us[1], float(low), float(high))


def _model(found: Found, *, transposed: bool) -> bytes:
    """A copy of the input, the Transpose, and a Slice of the first element of its result.

    Like this neither the input nor the result is the caller's, which the runtime may not share.
    """
    moves, kind = found.moves, ir.TensorType(found.dtype)
    data = ir.Value(name="x", shape=ir.Shape(sizes_of(moves.shape)), type=kind)
    nodes = [ir.node("Identity", [data])]
    _typed(nodes[0], kind, moves.shape)
    if transposed:
        nodes.append(ir.node("Transpose", nodes[0].outputs, {"perm": list(moves.perm)}))
        _typed(nodes[1], kind, moves.result)
    bounds = [ir.tensor(np.full(len(moves.perm), end), name=f"to_{end}") for end in (0, 1)]
    ends = [ir.Value(name=one.name, const_value=one) for one in bounds]
    nodes.append(ir.node("Slice", [nodes[-1].outputs[0], *ends]))
    _typed(nodes[-1], kind, [1] * len(moves.perm))
    nodes[-1].outputs[0].name = "y"
    graph = ir.Graph(
        [data], nodes[-1].outputs, nodes=nodes, initializers=ends, opset_imports={"": 17}, name="t"
    )
    return to_bytes(ir.Model(graph, ir_version=8))


def _typed(node: ir.Node, kind: ir.TensorType, shape: Sequence[Dimension]) -> None:
    node.outputs[0].type, node.outputs[0].shape = kind, ir.Shape(sizes_of(shape))


def sizes_of(shape: Sequence[Dimension]) -> tuple[int, ...]:
    """A shape of which every size is a number."""
    sizes = in_numbers(tuple(shape))
    assert sizes is not None
    return sizes


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The rows as a Markdown table, largest tensors first."""
    yield (
        "| first in | as written | axes | as needed | axes | MiB | GB/s written | reduced | a copy"
        " | gain |"
    )
    yield "|---|---|---|---|---|--:|--:|--:|--:|--:|"
    for one in sorted(rows, key=lambda one: -one.found.moved_bytes):
        moves = one.found.moves
        reduced = moves.reduced()
        gain, low, high = one.gain
        cells = [
            one.found.model,
            *_words(moves),
            *_words(reduced),
            f"{one.found.moved_bytes / 2 / MIB:.3f}",
            *(f"{rate:.1f}" for rate in one.rates()),
            f"{gain:.2f} [{low:.2f}, {high:.2f}]",
        ]
        yield f"| {' | '.join(cells)} |"


def _words(moves: Transposition) -> tuple[str, str]:
    return "×".join(map(str, moves.shape)), " ".join(map(str, moves.perm))


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """What the table says of the tensors that the pass takes by itself."""
    fewer = [one for one in rows if len(one.found.moves.reduced().perm) < len(one.found.moves.perm)]
    least = 2 * ReduceTransposes().least_bytes
    taken = [one for one in fewer if one.found.moved_bytes >= least]
    gains = [one.gain for one in taken]
    slower = [one for one in taken if one.gain[2] < 1]
    yield (
        f"- {len(rows)} Transposes, of which fewer axes would do {len(fewer)};"
        f" {len(taken)} are large enough for the pass"
    )
    if taken:
        middles = [gain for gain, _, _ in gains]
        yield (
            f"- of these {sum(low > 1 for _, low, _ in gains)} are surely faster, {len(slower)}"
            f" surely slower; median gain {np.median(middles):.2f}, most {max(middles):.2f}"
        )
    for one in slower:
        yield f"  - slower: {one.found.model} {' '.join(_words(one.found.moves))}"
    far = [one for one in rows if one.share < FAR and one.found.moved_bytes >= least]
    yield f"- far from a copy (below {FAR:.0%} of its rate) even so: {len(far)}"
    for one in sorted(far, key=lambda one: one.share):
        words = " by ".join(_words(one.found.moves.reduced()))
        yield f"  - {one.found.model}: {words}, {one.share:.0%}"


def main() -> int:
    """Print the report; 1 if a reduced one that the pass takes is surely slower than as written."""
    arguments = parser(__doc__).parse_args()
    rows, left_out = rows_of(transposes(arguments.folders), row)
    told = [*summary(rows)]
    lines = [f"{describe('passlens', 'onnxruntime-gpu')}, one thread.", "", *told, "", *table(rows)]
    publish([*lines, *section("Not measured:", left_out)], arguments.write)
    return int(any(line.startswith("  - slower") for line in told))


if __name__ == "__main__":
    sys.exit(main())
