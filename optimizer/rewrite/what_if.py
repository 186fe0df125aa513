"""What if: which passes would act on a graph as it stands, and how often. Nothing is changed.

Every pass is asked about every node once. What a rewrite would make possible for others is not
counted, nor a match that an earlier one of the same pass would take a node from.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

import onnx_ir as ir

from optimizer.collection import collection_paused
from optimizer.limits import Limits
from optimizer.model.graph import node_id, walk_nodes
from optimizer.model.symbolic import SymbolicValues
from optimizer.pipeline import Pipeline
from optimizer.registry import GraphPass, Pass, Rule
from optimizer.rewrite.edited_graph import EditedGraph
from optimizer.rewrite.refusal import Refused, check
from optimizer.rewrite.trace import VetoedMatch, match_id
from optimizer.rewrite.vetoes import Vetoes, leaving_nodes
from optimizer.rewrite.worklist import Queue
from optimizer.rules.context import Context, FoldBudget, operator_of
from optimizer.rules.replacement import Declined, Outcome, Replacement

FOLD_SECONDS = 0.2
"""Folding is asked in earnest, and stops there as it does in a run."""
QUESTIONS = 32
"""Between two looks at the clock, which take as long as a short answer."""
MOST_PLACES = 200
"""Roots that are listed; all matches are counted."""


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A place that a rule nearly fits.

    Attributes:
        root: id of its node.
        reason: why it does not.
    """

    root: str
    reason: str

    @property
    def condition(self) -> str:
        """The reason, without what is special about this place."""
        return self.reason.partition(": ")[0].rstrip(".")


@dataclass(frozen=True, slots=True)
class Preview:
    """What one pass would do to a graph at once.

    Attributes:
        pass_id: the pass.
        matches: places at which one of its rules fires; one that needs a node that an earlier
            match takes out is none.
        declined: near misses, those included that would break the graph.
        places: ids of the roots of the first matches.
        near: the first of the near misses.
        whole: whether all nodes were asked about; False where the time was up.
    """

    pass_id: str
    matches: int
    declined: int
    places: tuple[str, ...] = ()
    near: tuple[NearMiss, ...] = ()
    whole: bool = True


def what_if(
    model: ir.Model,
    asked: Sequence[Pass],
    pipeline: Pipeline,
    *,
    seconds: float,
    limits: Limits = Limits(),
) -> list[Preview]:
    """What each pass would do to a graph that has its ids; the graph stays as it is.

    Args:
        model: the graph; types and shapes carried forward.
        asked: the passes, each asked by itself.
        pipeline: whose vetoes and places hold.
        seconds: CPU time of one pass, after which it is asked no more.
        limits: the bounds in force.
    """
    return AskedGraph(model, pipeline, seconds=seconds, limits=limits).previews(asked)


class AskedGraph:
    """One graph, and passes that are asked about it, at once or later: it must not have changed.

    What the passes find out about values, and what any of them may ask of the graph, is kept.
    """

    @collection_paused()
    def __init__(
        self,
        model: ir.Model,
        pipeline: Pipeline,
        *,
        seconds: float,
        limits: Limits = Limits(),
        symbolic: SymbolicValues | None = None,
    ) -> None:
        """As `what_if`; `symbolic` is what is known already of values that mean what they did."""
        self.pipeline, self.seconds, self.limits = pipeline, seconds, limits
        self.edited = EditedGraph(model)
        self.opsets = model.graph.opset_imports
        self.symbolic = symbolic or SymbolicValues(model)
        self.analyses = dict[object, object]()
        self.by_operator: dict[str, list[tuple[int, ir.Node]]] = {}
        self.nodes: list[tuple[str, ir.Node]] = []
        for place, node in enumerate(walk_nodes(model.graph)):
            operator = operator_of(node)
            self.nodes.append((operator, node))
            self.by_operator.setdefault(operator, []).append((place, node))

    @collection_paused()
    def previews(self, asked: Sequence[Pass]) -> list[Preview]:
        """What each pass would do."""
        return [self._of(one) for one in asked]

    def _of(self, one: Pass) -> Preview:
        """One pass; of one over the whole graph nothing is known before it runs."""
        if isinstance(one, GraphPass):
            return Preview(one.id, 0, 0, whole=False)
        vetoes = Vetoes(self.pipeline.vetoed, self.edited.position)
        context, taken = self._context(), set[ir.Node]()
        places, near = list[str](), list[NearMiss]()
        matches = declined = 0
        fired: ir.Node | None = None
        settled: Rule | None = None
        until, whole = time.thread_time() + self.seconds, True
        for number, (node, rule) in enumerate(self._questions(Queue(one))):
            if number % QUESTIONS == 0 and time.thread_time() > until:
                whole = False
                break
            if node in taken or node is fired or rule is settled:
                continue
            outcome = _answer(rule, node, context)
            if isinstance(outcome, Replacement):
                outcome = self._possible(outcome, node, vetoes, (one.id, rule.name))
            if isinstance(outcome, Declined):
                declined += 1
                if len(near) < MOST_PLACES:
                    near.append(NearMiss(node_id(node), outcome.reason))
            if not isinstance(outcome, Replacement) or taken.intersection(outcome.matched):
                continue
            matches, fired = matches + 1, node
            if outcome.opsets and (outcome.order or not outcome.values):  # the whole model
                settled = rule
            places += [node_id(node)][: max(0, MOST_PLACES - len(places))]
            taken |= leaving_nodes(outcome, self.edited.position)
        return Preview(one.id, matches, declined, tuple(places), tuple(near), whole)

    def _context(self) -> Context:
        return Context(
            opsets=self.opsets,
            limits=self.limits,
            symbolic=self.symbolic,
            budget=FoldBudget(self.limits.fold_total_bytes, seconds=FOLD_SECONDS),
            analyses=self.analyses,
            precedes=self.edited.precedes,
            position=self.edited.position,
            scopes=self.edited.state.scopes,
            functions=self.edited.state.model.functions,
        )

    def _questions(self, queue: Queue) -> Iterator[tuple[ir.Node, Rule]]:
        """Nodes in document order, each with the rules that are asked about it."""
        places = self.pipeline.places.get(queue.planned.id)
        rules = {operator: queue.rules_for(operator) for operator in self.by_operator}
        for operator, node in self._in_order(rules):
            if places is None or node_id(node) in places:
                for rule in rules[operator]:
                    yield node, rule

    def _in_order(self, rules: Mapping[str, list[Rule]]) -> Iterable[tuple[str, ir.Node]]:
        """The nodes of those operators that have rules, with their operators."""
        asked = [operator for operator, found in rules.items() if found]
        if len(asked) == len(rules):
            return self.nodes
        found = [(*entry, operator) for operator in asked for entry in self.by_operator[operator]]
        return [(operator, node) for _, node, operator in sorted(found, key=itemgetter(0))]

    def _possible(
        self, outcome: Replacement, node: ir.Node, vetoes: Vetoes, of_rule: tuple[str, str]
    ) -> Outcome:
        """The match unless it is vetoed or would break the graph."""
        matched = tuple(map(node_id, outcome.wholly_matched()))
        identity = match_id(*of_rule, node_id(node), matched)
        match = VetoedMatch(*of_rule, node_id(node), matched, identity, identity)
        if vetoes.hold(match, outcome):
            return None
        try:
            check(self.edited, node, outcome)
        except Refused as refusal:
            return Declined(str(refusal))
        return outcome


def _answer(rule: Rule, node: ir.Node, context: Context) -> Outcome:
    """What a rule says; a rule that raises says nothing, as in a run."""
    try:
        return rule.match(node, context)
    except Exception:  # a rule is somebody's code: its bug must not end the preview
        return None
