"""What if: which passes would act on a graph as it stands, and how often. Nothing is changed.

Every pass is asked about every node once. What a rewrite would make possible for others is not
counted, nor a match that an earlier one of the same pass would take a node from.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.collection import collection_paused
from optimizer.limits import Limits
from optimizer.model.graph import node_id, walk_nodes
from optimizer.model.symbolic import SymbolicValues
from optimizer.pipeline import Pipeline
from optimizer.registry import GraphPass, Pass, Rule
from optimizer.rewrite.edited_graph import EditedGraph
from optimizer.rewrite.refusal import Refused, check
from optimizer.rewrite.taken_apart import TakenApart
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


@dataclass(frozen=True, slots=True)
class Answer:
    """What a rule says about a node, where it says anything.

    Attributes:
        reason: of a near miss; None for a match.
        matched: ids of the nodes of a match.
        leaving: ids of those that it takes out.
        settles: it concerns the whole model: nobody else needs to be asked.
    """

    reason: str | None
    matched: tuple[str, ...] = ()
    leaving: frozenset[str] = frozenset()
    settles: bool = False


UNASKED = Answer("not asked")
"""It was not asked, because another match takes the node."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What the rules of a pass say about a graph.

    Attributes:
        said: by node id and name of the rule.
        unasked: ids of nodes about which there was no time to ask.
    """

    said: Mapping[tuple[str, str], Answer]
    unasked: frozenset[str] = frozenset()


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
        seconds: CPU time of one pass, after which it is asked no more; its first questions, with
            which it may analyse the whole graph, are not counted.
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
        affected: Mapping[ir.Node, int] | None = None,
    ) -> None:
        """As `what_if`.

        Args:
            model: as there.
            pipeline: as there.
            seconds: as there.
            limits: as there.
            symbolic: what is known already of values that mean what they did.
            affected: where the graph was asked about before as another one, the nodes that have
                changed since, and from how far away it can be seen.
        """
        self.pipeline, self.seconds, self.limits = pipeline, seconds, limits
        self.affected = affected
        self.edited = EditedGraph(model)
        self.taken_apart = TakenApart(pipeline)
        self.opsets = model.graph.opset_imports
        self.symbolic = symbolic or SymbolicValues(model)
        for value in (value for node in affected or () for value in node.outputs):
            self.symbolic.forget(value)  # more may be known of it now
        self.analyses = dict[object, object]()
        self.nodes: list[tuple[str, ir.Node]] = []
        self.places: dict[ir.Node, int] = {}
        self.by_operator: dict[str, list[ir.Node]] = {}
        for place, node in enumerate(walk_nodes(model.graph)):
            operator = operator_of(node)
            self.nodes.append((operator, node))
            self.places[node] = place
            self.by_operator.setdefault(operator, []).append(node)

    @collection_paused()
    def previews(self, asked: Sequence[Pass]) -> list[Preview]:
        """What each pass would do."""
        return [self.preview(one)[0] for one in asked]

    @collection_paused()
    def preview(self, one: Pass, before: Answers | None = None) -> tuple[Preview, Answers | None]:
        """What a pass would do, and what it said, for the next graph to be asked about.

        Args:
            one: the pass.
            before: what it said about the graph as it was; only what is `affected` is asked anew.

        Returns:
            The answers are None where they hold for this graph alone; of a pass over the whole
            graph nothing is known before it runs.
        """
        if isinstance(one, GraphPass):
            return Preview(one.id, 0, 0, whole=False), None
        asked, clock, unasked = _Asking(self, one), _Clock(self.seconds), set[str]()
        for node, rule in self._questions(Queue(one), before):
            if rule is asked.settled:
                continue
            known = self._said_before(node, rule, one, before)
            if known == UNASKED and not clock.allows_another():
                unasked.add(node_id(node))
            else:
                asked.hear(node, rule, known)
        found = Preview(
            one.id, asked.matches, asked.declined, tuple(asked.places), tuple(asked.near),
            whole=not unasked,
        )  # fmt: skip
        answers = Answers(asked.answers, frozenset(unasked))
        return found, answers if asked.depend_on_places else None

    def _said_before(
        self, node: ir.Node, rule: Rule, one: Pass, before: Answers | None
    ) -> Answer | None:
        """What holds still of what a rule said; `UNASKED` where it has to be asked."""
        if before is None or self.affected is None or node_id(node) in before.unasked:
            return UNASKED
        if self.affected.get(node, one.reach + 1) <= one.reach:
            return UNASKED
        said = before.said.get((node_id(node), rule.name))
        nodes = self.edited.state.nodes
        stands = said is None or all(
            identity in nodes and nodes[identity] in self.places for identity in said.matched
        )
        return said if stands else UNASKED

    def context(self) -> Context:
        """What the rules of one pass may ask."""
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

    def _questions(self, queue: Queue, before: Answers | None) -> Iterator[tuple[ir.Node, Rule]]:
        """Nodes in document order, each with the rules that are asked about it."""
        places = self.pipeline.places.get(queue.planned.id)
        rules = {operator: queue.rules_for(operator) for operator in self.by_operator}
        for node in self._in_order(queue.planned, rules, before):
            if places is None or node_id(node) in places:
                for rule in rules[operator_of(node)]:
                    yield node, rule

    def _in_order(
        self, one: Pass, rules: Mapping[str, list[Rule]], before: Answers | None
    ) -> Sequence[ir.Node]:
        """The nodes that rules may have something to say about."""
        if before is None or self.affected is None:
            asked = [operator for operator, found in rules.items() if found]
            found = [node for operator in asked for node in self.by_operator[operator]]
        else:
            nodes = self.edited.state.nodes
            known = [*(identity for identity, _ in before.said), *before.unasked]
            heard = [nodes[identity] for identity in known if identity in nodes]
            near = [node for node, distance in self.affected.items() if distance <= one.reach]
            found = [node for node in dict.fromkeys([*heard, *near]) if node in self.places]
        return sorted(found, key=self.places.__getitem__)


@dataclass(slots=True)
class _Clock:
    """The CPU time of a pass, after its first questions: for them it may analyse the whole graph.

    Attributes:
        seconds: for all others.
        asked: questions.
        until: what this thread has taken when the time is up.
        is_up: it was at the last look.
    """

    seconds: float
    asked: int = 0
    until: float = math.inf
    is_up: bool = False

    def allows_another(self) -> bool:
        """Whether there is time for one more question."""
        if self.asked % QUESTIONS == 0:
            now = time.thread_time()
            if self.asked == QUESTIONS:
                self.until = now + self.seconds
            self.is_up = now > self.until
        self.asked += not self.is_up
        return not self.is_up


class _Asking:
    """One pass that is asked about a graph, node by node."""

    def __init__(self, graph: AskedGraph, one: Pass) -> None:
        self._graph, self._pass = graph, one
        self._vetoes = Vetoes(graph.pipeline.vetoed, graph.edited.position)
        self._context = graph.context()
        self._taken: set[str] = set()
        self._fired: ir.Node | None = None
        self.settled: Rule | None = None
        self.answers: dict[tuple[str, str], Answer] = {}
        self.places: list[str] = []
        self.near: list[NearMiss] = []
        self.matches = self.declined = 0

    @property
    def depend_on_places(self) -> bool:
        """Whether each answer is about its node and what is near, and not about others asked."""
        if self._pass.global_analysis or self.settled:
            return False
        return self._pass.memory_is_cache or not self._context.memory

    def hear(self, node: ir.Node, rule: Rule, known: Answer | None) -> None:
        """Take account of what a rule says about a node, or is known to say."""
        identity = node_id(node)
        if identity in self._taken or node is self._fired:
            self.answers[identity, rule.name] = UNASKED
            return
        said = self._ask(node, rule) if known == UNASKED else known
        if said is None:
            return
        self.answers[identity, rule.name] = said
        if said.reason is not None:
            self.declined += 1
            if len(self.near) < MOST_PLACES:
                self.near.append(NearMiss(identity, said.reason))
        elif self._taken.isdisjoint(said.matched):
            self.matches, self._fired = self.matches + 1, node
            if said.settles:
                self.settled = rule
            self.places += [identity][: max(0, MOST_PLACES - len(self.places))]
            self._taken |= said.leaving

    def _ask(self, node: ir.Node, rule: Rule) -> Answer | None:
        """What a rule says; a rule that raises says nothing, as in a run."""
        try:
            outcome = rule.match(self._pass, node, self._context)
        except Exception:  # a rule is somebody's code: its bug must not end the preview
            return None
        if isinstance(outcome, Replacement):
            outcome = self._possible(outcome, node, rule)
        if isinstance(outcome, Declined):
            return Answer(outcome.reason)
        if outcome is None:
            return None
        leaving = leaving_nodes(outcome, self._graph.edited.position)
        return Answer(
            None,
            tuple(map(node_id, outcome.matched)),
            frozenset(map(node_id, leaving)),
            settles=bool(outcome.opsets and (outcome.order or not outcome.values)),
        )

    def _possible(self, outcome: Replacement, node: ir.Node, rule: Rule) -> Outcome:
        """The match unless it is vetoed, would be taken apart again or would break the graph."""
        of_rule = (self._pass.id, rule.name)
        matched = tuple(map(node_id, outcome.wholly_matched()))
        identity = match_id(*of_rule, node_id(node), matched)
        match = VetoedMatch(*of_rule, node_id(node), matched, identity, identity)
        if self._vetoes.hold(match, outcome):
            return None
        opset = self._context.opset()
        if problem := self._graph.taken_apart.problem(self._pass, outcome, opset):
            return Declined(problem)
        try:
            check(self._graph.edited, node, outcome)
        except Refused as refusal:
            return Declined(str(refusal))
        return outcome
