"""Nests as Halide prints them, held against ours. What runs in a worker is at the end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule, ScheduleError
from optimizer.schedules.nest import NestNode
from profiling.codegen.halide_object import code_text, loop_nest
from profiling.codegen.kernel import KernelRefused
from profiling.codegen.standard_error import captured

_RUNS = {"for": "serial", "parallel": "parallel", "vectorized": "vector", "unrolled": "unrolled"}
_LOOP = re.compile(r"(for|parallel|vectorized|unrolled) (\S+?)(?: in \[(-?\d+), (-?\d+)\])?:")


@dataclass
class Tree:
    """A node without what only one of the two says."""

    kind: str
    name: str
    run: str = ""
    rounds: int | None = None
    is_trivial: bool = False
    stage: int = 0
    reduces: bool = False
    inside: list[Tree] = field(default_factory=list["Tree"])


def halide_tree(text: str) -> Tree:
    """What Halide prints; `consume` is where its contents are."""
    root = Tree("root", "")
    open_nodes = [(-1, root)]
    for line in text.splitlines():
        words = line.strip()
        if not words or words.startswith("Warning"):
            continue
        depth = len(line) - len(line.lstrip())
        while open_nodes[-1][0] >= depth:
            open_nodes.pop()
        parent = open_nodes[-1][1]
        if words.startswith("consume "):
            open_nodes.append((depth, parent))
            continue
        node = _node(words)
        parent.inside.append(node)
        open_nodes.append((depth, parent if node.kind == "store" else node))
    return root


def _node(words: str) -> Tree:
    if found := _LOOP.match(words):
        word, name, low, high = found.groups()
        # The loop of a window begins early, and its name ends in a point; ours has a long first
        # round in its place.
        told = (low, high) if low and high and not name.endswith(".") else None
        rounds = int(told[1]) - int(told[0]) + 1 if told else None
        return Tree("loop", name.rstrip(".").rsplit(".", 1)[-1], _RUNS[word], rounds)
    if found := re.match(r"(produce|store) (\S+):", words):
        return Tree(found[1], found[2])
    return Tree("compute", words.split("(")[0])


def own_tree(nodes: Sequence[NestNode]) -> Tree:
    """Ours."""
    root = Tree("root", "")
    open_nodes = [(-1, root)]
    for node in nodes:
        while open_nodes[-1][0] >= node.depth:
            open_nodes.pop()
        if node.kind == "loop":
            made = Tree("loop", node.loop, node.run, node.extent, node.extent == 1)
        else:
            made = Tree(node.kind, node.func)
        made.stage, made.reduces = node.stage, node.reduces
        open_nodes[-1][1].inside.append(made)
        open_nodes.append((node.depth, made))
    return root


def difference(halide: Tree, own: Tree) -> str:
    """Where two trees are not the same; empty where they are.

    Halide leaves loops of one round out where it can tell, prints how often a loop runs where that
    is a constant from a constant on, and calls all loops of a reduction by one name. What is
    produced at one place may stand in any order.
    """
    inside = list(_spliced(own, _others(halide)))
    theirs, ours = _made(halide.inside), _made(inside)
    if theirs.keys() != ours.keys():
        return f"in {own.name}: Halide has {sorted(theirs)}, we have {sorted(ours)}"
    for key, one in theirs.items():
        if found := difference(one, ours[key]):
            return found
    rest = [one for one in inside if one.kind not in ("produce", "store")]
    if len(rest) != len(_others(halide)):
        return f"in {own.name}: {len(_others(halide))} parts against {len(rest)}"
    pairs = zip(_others(halide), rest, strict=True)
    return next((found for one, other in pairs if (found := _unlike(one, other))), "")


def _unlike(one: Tree, other: Tree) -> str:
    if one.kind != other.kind:
        return f"{one.kind} {one.name} against {other.kind} {other.name}"
    if one.kind == "compute":
        return ""
    if not _same_loop(one, other):
        return f"{one.run} {one.name} against {other.run} {other.name}"
    if one.rounds not in (None, other.rounds):
        return f"{one.name} runs {one.rounds} times, we say {other.rounds}"
    return difference(one, other)


def _spliced(own: Tree, theirs: Sequence[Tree]) -> Iterator[Tree]:
    """What is inside, without loops of one round that Halide has left out."""
    for one in own.inside:
        if one.is_trivial and not any(_same_loop(other, one) for other in theirs):
            yield from _spliced(one, theirs)
        else:
            yield one


def _made(trees: Sequence[Tree]) -> dict[tuple[str, str], Tree]:
    return {(one.kind, one.name): one for one in trees if one.kind in ("produce", "store")}


def _others(tree: Tree) -> list[Tree]:
    return [one for one in tree.inside if one.kind not in ("produce", "store")]


def _same_loop(one: Tree, other: Tree) -> bool:
    if one.kind != "loop" or other.kind != "loop":
        return False
    joined = other.reduces and other.name in one.name.split("_")
    return (one.name == other.name or joined) and one.run == other.run


Outcome = tuple[str, int | None]
"""A nest, and None; or why there is none, and which primitive is to blame."""


def printed(algorithm: Algorithm, schedules: Sequence[Schedule]) -> list[Outcome]:
    """What Halide prints for each, if it can also lower it."""
    found: list[Outcome] = []
    for schedule in schedules:
        try:
            with captured():
                code_text(algorithm, schedule, "avx2", "stmt")
            found.append((loop_nest(algorithm, schedule), None))
        except ScheduleError as error:
            found.append((error.reason, error.index))
        except KernelRefused as error:
            found.append((error.message, -1))
    return found
