"""Which nodes of a graph work in which layout on a target, and what it costs to get there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import onnx_ir as ir

from optimizer.constants import constant_of, is_constant_node
from optimizer.cost.sizes import FixedSizes
from optimizer.layout.assignment.problem import Flow, LayoutAssignment, LayoutProblem
from optimizer.layout.assignment.solve import solve
from optimizer.layout.capabilities import check_kernel
from optimizer.layout.formats import BLOCKS, FIRST, LAST, order
from optimizer.layout.forms import Form, Move, NotPossible, form_of
from optimizer.layout.images import images_of
from optimizer.layout.inference import infer_layouts
from optimizer.layout.prices import Prices
from optimizer.layout.targets import Target
from optimizer.model.symbolic import SymbolicValues
from optimizer.operators.layouts import LAYOUTS, WRAPPED


@dataclass(frozen=True, slots=True)
class Conversion:
    """An image that somebody needs in another layout.

    Attributes:
        value: as it is written.
        made: its layout once all nodes have theirs.
        wanted: the layout it is converted to.
        size_bytes: read and written.
        us: predicted.
        readers: for whom; empty where the graph itself asks for it.
    """

    value: ir.Value
    made: str
    wanted: str
    size_bytes: int
    us: float
    readers: tuple[ir.Node, ...]


@dataclass(frozen=True, slots=True)
class Moved:
    """A node that works in another layout than it is written for.

    Attributes:
        form: what takes its place.
        place: the two layouts.
        written_us: predicted for its kernel as written; None where the target has none.
        us: and then.
    """

    form: Form
    place: Move
    written_us: float | None
    us: float


@dataclass(frozen=True, slots=True)
class LayoutPlan:
    """An assignment for one graph.

    Attributes:
        moved: nodes with another layout.
        conversions: all that are left to do.
        assignment: the costs and their certificate.
        written_us: what kernels and conversions take as the graph is written; None where the target
            has no kernel for that.
        first_us: and with the channels of images first wherever that can be; None likewise.
        reasons: why nodes that were asked cannot work in the target's layout.
        around: by node, the conversions of what it reads and of what it makes.
    """

    moved: Mapping[ir.Node, Moved]
    conversions: Sequence[Conversion]
    assignment: LayoutAssignment
    written_us: float | None
    first_us: float | None
    reasons: Mapping[ir.Node, str]
    around: Mapping[ir.Node, Sequence[Conversion]]


def _around(conversions: Sequence[Conversion]) -> dict[ir.Node, list[Conversion]]:
    found: dict[ir.Node, list[Conversion]] = {}
    for one in conversions:
        producer = one.value.producer()
        made_by = () if producer is None else (producer,)
        for node in dict.fromkeys((*one.readers, *made_by)):
            found.setdefault(node, []).append(one)
    return found


def assign(graph: ir.Graph, target: Target, symbolic: SymbolicValues, opset: int) -> LayoutPlan:
    """The cheapest layouts of a graph's nodes; bodies are left as they are.

    A graph in which operators of other layouts stand was assigned before: nothing moves again.
    """
    planner = _Planner(graph, target, symbolic, opset)
    return planner.plan(again=any(node.domain == LAYOUTS for node in graph))


_LEAST_GAIN_US = 1e-3
"""What a move has to gain: where nothing is gained, nothing moves."""


class _Planner:
    def __init__(
        self, graph: ir.Graph, target: Target, symbolic: SymbolicValues, opset: int
    ) -> None:
        self._graph, self._target, self._symbolic, self._opset = graph, target, symbolic, opset
        self._sizes = FixedSizes.of(graph)
        layouts = infer_layouts(graph, self._sizes)
        self._contradiction = next((str(one.finding) for one in layouts.contradictions), "")
        self._images = images_of(layouts)
        self._prices = Prices(target, self._sizes, self._images)
        self._variables: dict[ir.Node, int] = {}
        self._candidates: list[dict[str, float]] = []
        self._written: list[str] = []
        self._forms: dict[tuple[ir.Node, str], tuple[Form, Move]] = {}
        self._fixed: dict[str, int] = {}
        self._reasons: dict[ir.Node, str] = {}

    def plan(self, *, again: bool) -> LayoutPlan:
        for node in self._graph:
            self._offer(node)
        flows = [*self._flows()]
        problem = LayoutProblem(tuple(self._candidates), tuple(flow for flow, *_ in flows))
        found = solve(problem)
        names, written = found.layouts, self._written
        conversions = [
            one
            for flow, value, uses in flows
            for one in self._conversions(flow, value, uses, names)
        ]
        moved = {
            node: self._moved(node, names[index])
            for node, index in self._variables.items()
            if names[index] != written[index] and not again
        }
        before, all_first = (
            problem.cost(one) if problem.has_kernels(one) else None
            for one in (written, self._all_first())
        )
        around = _around(conversions)
        return LayoutPlan(moved, conversions, found, before, all_first, self._reasons, around)

    def _all_first(self) -> list[str]:
        """Channels first wherever that can be; tokens, whose places are one axis, as written."""
        layouts = list(self._written)
        for node, index in self._variables.items():
            rank = len(self._sizes.shape(node.outputs[0]) or ())
            if rank > 3 and FIRST in self._candidates[index]:
                layouts[index] = FIRST
        return layouts

    def _moved(self, node: ir.Node, wanted: str) -> Moved:
        form, place = self._forms[node, wanted]
        costs = self._candidates[self._variables[node]]
        return Moved(form, place, costs.get(place.written), costs[wanted])

    def _offer(self, node: ir.Node) -> None:
        """Enter a node with the layouts that it can work in, the written one first."""
        written = self._images.get(node.outputs[0]) if node.outputs else None
        if written is None or is_constant_node(node) or self._inverse(node):
            return
        costs: dict[str, float] = {}
        layouts = [FIRST, LAST, BLOCKS] if self._target.blocks else [FIRST, LAST]
        for wanted in (one for one in layouts if one != written):
            block = self._block(node) if wanted == BLOCKS else 0
            place = Move(node, written, wanted, block, self._images, self._symbolic, self._opset)
            try:
                if self._contradiction:
                    raise NotPossible(f"layouts contradict each other: {self._contradiction}")
                check_kernel(place, self._target)
                form = form_of(place)
            except NotPossible as reason:
                if wanted == layouts[-1]:
                    self._reasons[node] = str(reason)
                continue
            self._forms[node, wanted] = form, place
            costs[wanted] = self._prices.kernel_us(place) + _LEAST_GAIN_US
        if not costs:
            return
        costs = {written: self._prices.written_us(node), **costs}
        if node.op_type in self._target.demanded and BLOCKS in costs:
            del costs[written]
        elif node.op_type in WRAPPED and LAST in costs:
            costs[written] += self._prices.inner_us(node)
        self._variables[node] = len(self._candidates)
        self._candidates.append(costs)
        self._written.append(written)

    def _block(self, node: ir.Node) -> int:
        dtype = node.outputs[0].dtype
        return 0 if dtype is None else self._target.blocks.get(dtype.bitwidth, 0)

    def _inverse(self, node: ir.Node) -> bool:
        """Whether a node is a conversion itself: a Transpose from one layout to the other."""
        if node.op_type != "Transpose" or node.domain or node.inputs[0] is None:
            return False
        made, wanted = (self._images.get(v) for v in (node.inputs[0], node.outputs[0]))
        perm = node.attributes.get("perm")
        if made is None or wanted is None or made == wanted or perm is None:
            return False
        return list(perm.as_ints()) == order(made, wanted, len(perm.as_ints()))

    def _flows(self) -> Iterator[tuple[Flow, ir.Value, Sequence[tuple[ir.Node | None, int]]]]:
        """Values between choices, with who reads them by which choice."""
        for value in self._images:
            producer = value.producer()
            if constant_of(value) is not None or (producer and self._inverse(producer)):
                continue
            if producer is not None and producer.graph is not self._graph:
                continue
            uses = [*self._uses(value)]
            if not uses:
                continue
            source = self._choice(producer, value)
            labels = self._labels([source, *(choice for _, choice in uses)])
            costs = {
                pair: self._prices.conversion(value, *pair)[1] for pair in permutations(labels, 2)
            }
            yield Flow(source, tuple(choice for _, choice in uses), costs), value, uses

    def _uses(self, value: ir.Value) -> Iterator[tuple[ir.Node | None, int]]:
        """Who reads a value, also behind conversions that are written."""
        pending = [value]
        while pending:
            value = pending.pop()
            for use in value.uses():
                if self._inverse(use.node) and use.node.graph is self._graph:
                    pending.append(use.node.outputs[0])
                    continue
                taken = (BLOCKS, FIRST, LAST)
                forms = [f for one in taken if (f := self._forms.get((use.node, one)))]
                moves = bool(forms) and all(use.idx in form.data for form, _ in forms)
                yield use.node, self._choice(use.node if moves else None, value)
            if value.is_graph_output():
                yield None, self._choice(None, value)

    def _choice(self, node: ir.Node | None, value: ir.Value) -> int:
        """The choice of a node; of whatever has none, the layout in which the value is written."""
        if node is not None and node in self._variables:
            return self._variables[node]
        layout = self._images[value]
        if layout not in self._fixed:
            self._fixed[layout] = len(self._candidates)
            self._candidates.append({layout: 0.0})
            self._written.append(layout)
        return self._fixed[layout]

    def _labels(self, choices: Sequence[int]) -> list[str]:
        return [*dict.fromkeys(label for choice in choices for label in self._candidates[choice])]

    def _conversions(
        self, flow: Flow, value: ir.Value, uses: Sequence[tuple[ir.Node | None, int]],
        layouts: Sequence[str],
    ) -> Iterator[Conversion]:  # fmt: skip
        made = layouts[flow.source]
        for wanted in flow.converted(layouts):
            size_bytes, us = self._prices.conversion(value, made, wanted)
            readers = [node for node, choice in uses if node and layouts[choice] == wanted]
            names = (self._name(made), self._name(wanted))
            yield Conversion(value, *names, size_bytes, us, tuple(readers))

    def _name(self, layout: str) -> str:
        return self._target.layout if layout == BLOCKS else layout
