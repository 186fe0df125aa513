"""The code of a schedule at all levels, each line with the loops that it comes from.

Where a tool names a loop, its lines have that loop: Halide's statements and C++ by their blocks,
LLVM's blocks by their names, the assembly by LLVM's comments. Nothing else is taken for known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from optimizer.codec import Format
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule
from optimizer.schedules.excess import runnable_nest
from optimizer.schedules.nest import NestNode, nest_text
from profiling.codegen.kernel import CpuLevel
from profiling.schedules.block_lines import assembly_nodes, llvm_nodes
from profiling.schedules.code import all_code
from profiling.schedules.functions import CODE_VIEWS, CodeView, Function
from profiling.schedules.instructions import (
    LoopCode,
    Mark,
    instruction,
    loops_of,
    marks_before,
)
from profiling.schedules.lexical_lines import Nodes, c_nodes, flattened, statement_nodes, tasks_of
from profiling.schedules.nest_index import NestIndex
from profiling.schedules.origins import origin_lines

MOST_LINES = 3000
"""Of a level; more are cut off."""
LONGEST_LINE = 400
"""Characters; what is behind is cut off."""

_TITLES: Mapping[CodeView, str] = {
    "stmt": "Halide statements", "c": "C++", "llvm": "LLVM IR", "asm": "Assembly",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line at one level.

    Attributes:
        text: of it.
        nodes: numbers of the nest's nodes that it is code of, the innermost that is known; empty
            where no tool says one.
        marks: what is to be seen in it.
    """

    text: str
    nodes: tuple[int, ...] = ()
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class CodeLevel:
    """The code at one level.

    Attributes:
        id: `onnx`, `nest`, or as `--print` calls it.
        title: for people.
        lines: the first of them.
        left_out: how many there are besides.
    """

    id: str
    title: str
    lines: tuple[CodeLine, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class LinkedCode:
    """All levels of a schedule.

    Attributes:
        title: what is computed.
        processor: what was compiled for.
        nodes: of the nest, a tree in the order of its text.
        levels: from the model to the machine; `onnx` only where the kernel is of a model.
        loops: the instructions of each node that has some; none for a GPU.
    """

    title: str
    processor: str
    nodes: tuple[NestNode, ...]
    levels: tuple[CodeLevel, ...]
    loops: tuple[LoopCode, ...]

    def level(self, id: str) -> CodeLevel:
        """One of the levels.

        Raises:
            KeyError: there is none of that name.
        """
        return {one.id: one for one in self.levels}[id]


LINKED_CODE = Format(LinkedCode, "passlens.linked-code/1", "linked code of a schedule")


def linked_code(
    title: str, algorithm: Algorithm, schedule: Schedule, processor: CpuLevel
) -> LinkedCode:
    """Compile a schedule, and say which loop each line is of. Only in a worker.

    Args:
        title: what is computed, for people.
        algorithm: of sizes that are numbers.
        schedule: that can be applied.
        processor: what to compile for.

    Raises:
        LibraryError: Halide is not installed, or cannot compute this.
        ScheduleError: a primitive cannot be applied, or the code would be too long.
    """
    nodes = runnable_nest(algorithm, schedule).nodes
    code = all_code(algorithm, schedule, processor)
    found = _mapped(code, NestIndex(algorithm, schedule, nodes))
    levels = levels_above(algorithm, nodes)
    for view in CODE_VIEWS:
        texts = (line for one in code[view] for line in (*one.lines, ""))
        lines = zip(texts, found[view], strict=True)
        levels.append(cut_level(view, _TITLES[view], (_line(t, node, view) for t, node in lines)))
    assembly = [line for one in code["asm"] for line in (*one.lines, "")]
    return LinkedCode(title, processor, nodes, tuple(levels), loops_of(assembly, found["asm"]))


def levels_above(algorithm: Algorithm, nodes: Sequence[NestNode]) -> list[CodeLevel]:
    """What a schedule's code comes from: nodes of a model, where it has some, and the nest."""
    nest = (CodeLine(line, (n,)) for n, line in enumerate(nest_text(nodes).splitlines()))
    found = [cut_level("nest", "Loop nest", nest)]
    origins = [CodeLine(text, numbers) for text, numbers in origin_lines(algorithm, nodes)]
    if origins:
        found.insert(0, cut_level("onnx", "ONNX nodes", iter(origins)))
    return found


def _mapped(code: Mapping[CodeView, Sequence[Function]], index: NestIndex) -> dict[CodeView, Nodes]:
    """The node of each line at each level."""
    tasks = tasks_of(code["stmt"], index)
    statements = [statement_nodes(one, index, tasks.get(one.name)) for one in code["stmt"]]
    written = [c_nodes(one, index, tasks.get(one.name)) for one in code["c"]]
    assembly: list[Nodes] = []
    blocks: dict[str, Mapping[str, int | None]] = {}
    for one in code["asm"]:
        nodes, blocks[one.name] = assembly_nodes(one, index, tasks.get(one.name))
        assembly.append(nodes)
    llvm = [
        llvm_nodes(one, index, tasks.get(one.name), blocks.get(one.name, {}))
        for one in code["llvm"]
    ]
    return {
        "stmt": list(flattened(statements)), "c": list(flattened(written)),
        "llvm": list(flattened(llvm)), "asm": list(flattened(assembly)),
    }  # fmt: skip


def _line(text: str, node: int | None, view: CodeView) -> CodeLine:
    if view == "asm":
        found = instruction(text)
        marks = () if found is None else found.marks
    else:
        marks = marks_before(text, view)
    return CodeLine(text, () if node is None else (node,), marks)


def cut_level(id: str, title: str, lines: Iterator[CodeLine]) -> CodeLevel:
    """A level of these lines, as many and as much of them as are shown."""
    kept = tuple(_shortened(line) for line in islice(lines, MOST_LINES))
    return CodeLevel(id, title, kept, sum(1 for _ in lines))


def _shortened(line: CodeLine) -> CodeLine:
    if len(line.text) <= LONGEST_LINE:
        return line
    return CodeLine(f"{line.text[:LONGEST_LINE]} …", line.nodes, line.marks)
