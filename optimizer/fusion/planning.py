"""Which regions of a graph become kernels, and which do not, with the reasons.

Nodes that code can be generated for grow together (`growth`); where a group's outputs differ in
shape (`parts`), or no schedule is known, it is taken apart again; what ONNX Runtime does better
stays. A region is taken if its kernel is predicted to take less than its nodes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import onnx_ir as ir

from optimizer.cost.classes import MOVING, operator_class
from optimizer.cost.sizes import Sizes
from optimizer.fusion.checks import KernelCheck
from optimizer.fusion.growth import MOST_NODES, Group, grow
from optimizer.fusion.moved_inputs import MovedInputs
from optimizer.fusion.parts import Part, Parts, needed_for
from optimizer.fusion.prices import Prices
from optimizer.fusion.region import (
    Kernels,
    Region,
    described,
    ends_at,
    priced_text,
    read_outside,
)
from optimizer.fusion.work import Work, is_candidate, work_of
from optimizer.operators.call import Known
from optimizer.operators.generated import GENERATED
from optimizer.runtime.fusions import joined_by_runtime

OLDEST_OPSET = 9
"""Since which constants of any type can be in a function."""
LEAST_US = 0.2
"""A kernel that saves less is not worth its code."""
LEAST_SHARE = 0.05
MOST_OUTPUTS = 32

_NOT_WITH = "Not one kernel with what it reads"


@dataclass(slots=True)
class FusionPlan:
    """What becomes of a graph.

    Attributes:
        regions: in the order of the graph.
        refused: node -> why it is in no kernel, or not in that of what it reads, and the nodes
            that this is about.
    """

    regions: list[Region] = field(default_factory=list[Region])
    refused: dict[ir.Node, tuple[str, tuple[ir.Node, ...]]] = field(
        default_factory=dict[ir.Node, tuple[str, tuple[ir.Node, ...]]]
    )


def plan_fusion(graph: ir.Graph, known: Known) -> FusionPlan:
    """Plan kernels for a graph's own nodes; bodies are left alone.

    Args:
        graph: with types and shapes, nodes in topological order. One that has generated nodes
            was planned before, and stays as it is, as does one of an opset before `OLDEST_OPSET`.
        known: what is known of its values.
    """
    old = graph.opset_imports.get("", 1) < OLDEST_OPSET
    if old or any(node.domain == GENERATED for node in graph):
        return FusionPlan()
    planning = _Planning(graph, known)
    planning.run()
    return planning.plan


class _Planning:
    """One graph on its way to a plan."""

    def __init__(self, graph: ir.Graph, known: Known) -> None:
        self.plan = FusionPlan()
        self._graph, self._known, self._sizes = graph, known, Sizes.of(graph)
        self._place = {node: number for number, node in enumerate(graph)}
        self._check = KernelCheck(known, graph.opset_imports)
        self._prices = Prices(self._sizes)
        self._works = dict(self._candidates())
        self._kernels = Kernels()
        self._parts = Parts(self._works, known, self._sizes, self._kernels)

    def run(self) -> None:
        grown = grow(self._graph, self._works)
        self._parts.home = {n: group.level for group in grown.groups for n in group.nodes}
        self._refuse_cuts(grown.cut)
        # Readers first: what their kernels compute again, nobody needs from others.
        groups = sorted(grown.groups, key=lambda group: group.level, reverse=True)
        moved = MovedInputs(self._works, self._place)
        regions = [one for group in groups for one in self._regions(moved.with_them(group), 0)]
        regions = list(self._with_siblings(list(self._settled(regions))))
        regions.sort(key=lambda region: self._place[region.nodes[-1]])
        self.plan.regions = [self._with_borders(region) for region in regions]

    def _with_borders(self, region: Region) -> Region:
        """A region that tells why it does not begin earlier."""
        refused = [self.plan.refused.pop(node, None) for node in region.nodes]
        inside = set(region.nodes)
        told = dict.fromkeys(
            f" {reason}: {described(about[0])}."
            for reason, about in filter(None, refused)
            if about and about[0] not in inside
        )
        return replace(region, ends=f"{region.ends}{''.join([*told][:1])}")

    def _candidates(self) -> Iterator[tuple[ir.Node, Work]]:
        joined = joined_by_runtime(self._graph)
        opset = self._graph.opset_imports.get("", 1)
        for node in self._graph:
            if not is_candidate(node):
                continue
            if node in joined:
                self._refuse(node, joined[node])
                continue
            work = work_of(node, self._known, opset, self._sizes)
            if work is not None:
                yield node, work

    def _refuse(self, node: ir.Node, reason: str, *about: ir.Node) -> None:
        self.plan.refused.setdefault(node, (f"{reason[0].upper()}{reason[1:]}", about))

    def _refuse_cuts(self, cut: dict[ir.Node, tuple[str, ir.Node]], why: str = "") -> None:
        for node, (reason, before) in cut.items():
            self._refuse(node, f"{_NOT_WITH}: {why or reason}", before)

    def _regions(self, group: Group, attempt: int) -> Iterator[Region]:
        """The regions of a group, taken apart as far as needed."""
        left = (node for node in group.nodes if node not in self._kernels.gone)
        nodes = sorted(left, key=self._place.__getitem__)
        for part in self._parts.of(nodes, group.level):
            if not self._worth_looking_at(part):
                continue
            found = self._region(part)
            if isinstance(found, Region):
                self._kernels.add(found.nodes, found.outputs)
                yield found
            elif attempt <= len(_BORDERS):
                yield from self._taken_apart(part, attempt, found)
            else:
                self._refuse(part.nodes[-1], found, *part.nodes[:-1])

    def _taken_apart(self, part: Part, attempt: int, reason: str) -> Iterator[Region]:
        """The regions of a part for which there is no kernel."""
        works = {node: self._works[node] for node in part.nodes}

        def is_border(node: ir.Node) -> bool:
            if attempt < len(_BORDERS):
                return _BORDERS[attempt](node, works[node], self._sizes)
            return isinstance(self._check.function([node], node.outputs), str)

        grown = grow(part.nodes, works, level=part.level, alone=is_border)
        self._refuse_cuts(grown.cut, reason)
        for group in grown.groups:
            yield from self._regions(group, attempt + 1)

    def _worth_looking_at(self, part: Part) -> bool:
        """Whether several nodes work, or one does whose own kernel is slow."""
        gone = self._kernels.leaving(part.nodes, part.outputs)
        working = [node for node in gone if not self._works[node].view]
        return len(working) > 1 or any(map(self._prices.is_slow, gone))

    def _region(self, part: Part) -> Region | str:
        """A part as a region, or why it is none."""
        if len(part.outputs) > MOST_OUTPUTS:
            return f"it has {len(part.outputs)} outputs, more than {MOST_OUTPUTS}"
        made = self._check.function(part.nodes, part.outputs)
        if isinstance(made, str):
            return made
        price = self._prices.of(
            part.nodes,
            self._kernels.leaving(part.nodes, part.outputs),
            made.inputs,
            made.outputs,
        )
        if price is None:
            return "a size of it is not known"
        if price.saved_us < max(LEAST_US, LEAST_SHARE * price.separate_us):
            return f"one kernel would not pay: {priced_text(price)}"
        ends = ends_at(part.nodes, part.outputs)
        return Region(part.level, part.nodes, part.outputs, made.proto.name, price, ends)

    def _settled(self, regions: Sequence[Region]) -> Iterator[Region]:
        """Regions that compute nothing again that another one gives."""
        given = {value for region in regions for value in region.outputs}
        for region in regions:
            own = [
                node
                for node in region.nodes
                if self._parts.home[node] == region.level[:1] or given.isdisjoint(node.outputs)
            ]
            if len(own) == len(region.nodes):
                yield region
                continue
            needed = needed_for(region.outputs, own)
            nodes = tuple(node for node in own if node in needed)
            found = self._region(Part(region.level, nodes, region.outputs))
            if isinstance(found, Region):
                yield found

    def _with_siblings(self, regions: Sequence[Region]) -> Iterator[Region]:
        """Regions of one level and one shape that read the same, as one kernel where that pays.

        Those that move axes to different places stay apart: one order of loops would suit one of
        them alone.
        """
        alike: defaultdict[object, list[Region]] = defaultdict(list)
        for region in regions:
            shape = self._known(region.outputs[0]).shape
            alike[region.level, shape, _permutations(region)].append(region)
        for group in alike.values():
            current = group[0]
            for other in group[1:]:
                both = self._together(current, other)
                if both is None:
                    yield current
                current = both or other
            yield current

    def _together(self, one: Region, other: Region) -> Region | None:
        if len(one.nodes) + len(other.nodes) > MOST_NODES or not _share(one, other):
            return None
        nodes = sorted((*one.nodes, *other.nodes), key=self._place.__getitem__)
        if len({self._works[node].rows for node in nodes} - {None}) > 1:
            return None
        part = Part(one.level, tuple(nodes), (*one.outputs, *other.outputs))
        both = self._region(part)
        if isinstance(both, str):
            return None
        apart = one.price.saved_us + other.price.saved_us
        return both if both.price.saved_us >= apart + LEAST_US else None


def _permutations(region: Region) -> frozenset[str]:
    """How its Transposes order axes."""
    moving = (node for node in region.nodes if node.op_type == "Transpose")
    return frozenset(repr(node.attributes.get("perm")) for node in moving)


def _share(one: Region, other: Region) -> bool:
    """Whether two regions read the same value, or what comes from the same."""
    return not _sources(one).isdisjoint(_sources(other))


def _sources(region: Region) -> set[ir.Value]:
    """What a region reads that is computed, and what products read whose results it reads."""
    found: set[ir.Value] = set()
    for value in read_outside(region.nodes):
        maker = value.producer()
        if maker is None and not value.is_graph_input():
            continue
        found.add(value)
        found |= _read_by(maker) if maker is None or maker.op_type != "Add" else _products(maker)
    return found


def _read_by(node: ir.Node | None) -> set[ir.Value]:
    """What a node reads first."""
    before = () if node is None else node.inputs[:1]
    return {read for read in before if read is not None}


def _products(node: ir.Node) -> set[ir.Value]:
    """What the products read to which a node adds something."""
    makers = (None if value is None else value.producer() for value in node.inputs)
    return {read for one in makers if one and one.op_type == "MatMul" for read in _read_by(one)}


Border = Callable[[ir.Node, Work, Sizes], bool]


def _moves(node: ir.Node, work: Work, sizes: Sizes) -> bool:
    del work
    return operator_class(node, sizes) in MOVING


def _reduces(node: ir.Node, work: Work, sizes: Sizes) -> bool:
    return work.rows is not None or work.apart or _moves(node, work, sizes)


_BORDERS: tuple[Border, ...] = (_moves, _reduces)
"""What stays apart, in this order, where no kernel is found for all; then what has no loops."""
