"""A schedule for a GPU: Halide's statements and its PTX, each line with the loops it comes from.

PTX has no loops over blocks and threads. Halide names a function of it for the outermost loop over
blocks, and LLVM's blocks for the loops in it, as on a processor. What stands between those is of
the whole function: threads of several stages are one there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule
from optimizer.schedules.excess import runnable_nest
from optimizer.schedules.nest import NestNode
from profiling.codegen.halide_object import GPU_TARGET
from profiling.codegen.kernel import CpuLevel
from profiling.schedules.block_lines import Block, blocks_of
from profiling.schedules.code import gpu_texts
from profiling.schedules.functions import Function
from profiling.schedules.instructions import marks_before
from profiling.schedules.lexical_lines import Nodes, flattened, statement_nodes
from profiling.schedules.linked import CodeLine, LinkedCode, cut_level, levels_above
from profiling.schedules.nest_index import NestIndex
from profiling.schedules.ptx_lines import ENTRY, WIDE, ptx_lines

_PREFIX = "_kernel"
_SERIAL = re.compile(r"__\d+$")


def linked_ptx(
    title: str, algorithm: Algorithm, schedule: Schedule, processor: CpuLevel
) -> LinkedCode:
    """Compile a schedule for a GPU, and say which loop each line is of. Only in a worker.

    Args:
        title: what is computed, for people.
        algorithm: of sizes that are numbers.
        schedule: that can be applied, with loops over blocks of a GPU.
        processor: of the machine that the GPU would be in.

    Raises:
        LibraryError: Halide is not installed, or cannot compute this.
        ScheduleError: a primitive cannot be applied, or the code would be too long.
    """
    nodes = runnable_nest(algorithm, schedule).nodes
    index = NestIndex(algorithm, schedule, nodes)
    texts = gpu_texts(algorithm, schedule, processor)
    whole = Function("kernel", tuple(texts["stmt"].strip().splitlines()))
    of_statements = statement_nodes(whole, index, None)  # names of loops are known from here on
    functions = ptx_functions(texts["ptx"])
    of_ptx = flattened([ptx_nodes(one, index, nodes) for one in functions])
    ptx = [line for one in functions for line in (*one.lines, "")]
    levels = [
        *levels_above(algorithm, nodes),
        cut_level("stmt", "Halide statements", _statements(whole.lines, of_statements)),
        cut_level("ptx", "PTX", _instructions(ptx, list(of_ptx))),
    ]
    return LinkedCode(title, f"{GPU_TARGET}, by Halide", nodes, tuple(levels), ())


def _statements(lines: Sequence[str], nodes: Nodes) -> Iterator[CodeLine]:
    for text, node in zip(lines, nodes, strict=True):
        yield CodeLine(text, _one(node), marks_before(text, "stmt"))


def _instructions(lines: Sequence[str], nodes: Nodes) -> Iterator[CodeLine]:
    for text, node in zip(lines, nodes, strict=True):
        yield CodeLine(text, _one(node), ("vector",) if WIDE.search(text) else ())


def _one(node: int | None) -> tuple[int, ...]:
    return () if node is None else (node,)


def ptx_functions(text: str) -> list[Function]:
    """The functions of a module of PTX, in the order of the text."""
    found: list[tuple[str, list[str]]] = []
    for line, _ in ptx_lines(text):
        if begun := ENTRY.match(line):
            found.append((begun[1], []))
        found[-1][1].append(line)
    return [Function(name, tuple(lines)) for name, lines in found]


def ptx_nodes(function: Function, index: NestIndex, nodes: Sequence[NestNode]) -> Nodes:
    """The node of each line of a function of PTX.

    Args:
        function: with LLVM's comments.
        index: of its nest, which was asked for the names in the statements before.
        nodes: of the nest.
    """
    name = _SERIAL.sub("", function.name.removeprefix(_PREFIX))
    whole = index.loop_in_c(name)
    found: Nodes = [whole] * len(function.lines)
    blocks = blocks_of([_as_assembly(line) for line in function.lines])
    by_label = {block.label: block for block in blocks}
    for number, block in enumerate(blocks):
        end = blocks[number + 1].line if number + 1 < len(blocks) else len(function.lines)
        loop = _loop(block, by_label, index, nodes)
        found[block.line : end] = [whole if loop is None else loop] * (end - block.line)
    return found


def _as_assembly(line: str) -> str:
    """A label or a comment as LLVM writes it for a processor."""
    return line.replace("$L__BB", ".LBB").replace("//", "#")


def _loop(
    block: Block, by_label: Mapping[str, Block], index: NestIndex, nodes: Sequence[NestNode]
) -> int | None:
    """The innermost loop that is named for a block, or for one whose loop it is in."""
    around = (by_label[label] for label in block.loops if label in by_label)
    for one in (block, *around):
        node, certain = index.block(one.name)
        if certain and node is not None and nodes[node].kind == "loop":
            return node
    return None
