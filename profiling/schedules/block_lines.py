"""Nodes of a nest for lines of LLVM's instructions and of the processor's.

Halide names LLVM's blocks for the loops that they are, and the assembly says of each block which of
LLVM's it was, and in which loop LLVM found it. What neither says has no node.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from profiling.schedules.functions import Function
from profiling.schedules.lexical_lines import Nodes
from profiling.schedules.nest_index import NestIndex

_LLVM_LABEL = re.compile(r'"?([^"\s]+?)"?:(?:\s|$)')
_ASM_LABEL = re.compile(r'(?:\.L|# %)((?:BB\d+_|bb\.)\d+):(?:\s*# %"?([^"]+)"?)?')
_HEADER = re.compile(r"\s*#\s+in Loop: Header=(BB\d+_\d+)")
_PARENT = re.compile(r"\s*#\s+Parent Loop (BB\d+_\d+)")
_COMMENT = re.compile(r"\s+#")


@dataclass(frozen=True)
class Block:
    """A block of an assembly's function.

    Attributes:
        label: unique in the file, but for those nobody jumps to.
        name: LLVM's; empty where it has none.
        loops: labels of the loops that it is in but does not begin, the innermost first.
        line: where it begins.
    """

    label: str
    name: str
    loops: tuple[str, ...]
    line: int


def assembly_nodes(
    function: Function, index: NestIndex, task: int | None
) -> tuple[Nodes, Mapping[str, int | None]]:
    """The node of each line of an assembly's function, and of each of LLVM's blocks by name.

    Args:
        function: with its comments.
        index: of its nest.
        task: the loop whose rounds it is.
    """
    blocks = blocks_of(function.lines)
    by_label = {block.label: block for block in blocks}
    found: Nodes = [task] * len(function.lines)
    named: dict[str, int | None] = {}
    for number, block in enumerate(blocks):
        node = _node(block, by_label, index, task)
        end = blocks[number + 1].line if number + 1 < len(blocks) else len(function.lines)
        found[block.line : end] = [node] * (end - block.line)
        if block.name:
            named.setdefault(block.name, node)
    return found, named


def blocks_of(lines: Sequence[str]) -> list[Block]:
    """The blocks of an assembly's function, in their order."""
    found: list[Block] = []
    for number, line in enumerate(lines):
        match = _ASM_LABEL.match(line)
        if match is None:
            continue
        loops: list[str] = []
        for after in lines[number + 1 :]:
            if not _COMMENT.match(after):
                break
            if told := _HEADER.match(after) or _PARENT.match(after):
                loops.insert(0, told[1])
        found.append(Block(match[1], match[2] or "", tuple(loops), number))
    return found


def _node(
    block: Block, by_label: Mapping[str, Block], index: NestIndex, task: int | None
) -> int | None:
    node, certain = index.block(block.name)
    if certain:
        return node
    for label in block.loops:
        around, begins = index.block(by_label[label].name) if label in by_label else (None, False)
        if begins:
            return around
    return task if node is None else node


def llvm_nodes(
    function: Function, index: NestIndex, task: int | None, blocks: Mapping[str, int | None]
) -> Nodes:
    """The node of each line of a function of LLVM's instructions.

    Args:
        function: with its labels.
        index: of its nest.
        task: the loop whose rounds it is.
        blocks: what the assembly says of blocks.
    """
    found: Nodes = []
    node = task
    for line in function.lines:
        match = _LLVM_LABEL.match(line)
        if match is not None:
            named, certain = index.block(match[1])
            node = named if certain else blocks.get(match[1], task if named is None else named)
        found.append(node)
    if found:
        found[-1] = task
    return found
