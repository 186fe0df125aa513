"""The trace: the ordered rewrites of one run of a pipeline. Everything else reads it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NewType

from optimizer.frozen import frozen
from optimizer.pipeline import Pipeline
from optimizer.registry import Exactness
from optimizer.rewrite.edits import Edit, InsertNode, RemoveNode
from optimizer.rewrite.graph_state import GraphState

MatchId = NewType("MatchId", str)


def match_id(pass_id: str, rule: str, root: str, matched: Sequence[str]) -> MatchId:
    """The name of one match: the same in every run that offers the same place to the same rule."""
    text = "\0".join([pass_id, rule, root, *matched])
    return MatchId(hashlib.sha256(text.encode()).hexdigest()[:12])


@frozen()
class InferredPlace:
    """Where a foreign tool changed the graph.

    Attributes:
        sources: ids of the nodes whose work the new ones do: those that left, or what they stand
            beside.
        added: ids of the new nodes; none where readers just take something else.
    """

    sources: tuple[str, ...]
    added: tuple[str, ...]


@frozen()
class Inferred:
    """What was inferred of a step that a foreign tool made, which tells nothing of single rewrites.

    Attributes:
        confidence: 0 to 1; how far names and structure tell which node does the work of which.
        places: where it changed the graph.
    """

    confidence: float
    places: tuple[InferredPlace, ...]


@frozen()
class Rewrite:
    """One applied match: one step.

    Attributes:
        step: 1 for the first rewrite; step 0 is the source.
        round: how often the pipeline had started over, from 1.
        pass_id: the pass.
        rule: the rule inside the pass.
        match: the name of the match, for vetoes.
        root: id of the node the rule was asked about.
        matched: ids of the nodes of the pattern.
        values: old value id -> id of the value that took its place.
        reason: why this was valid here.
        seconds: CPU time of matching and rewriting.
        depends_on: earlier steps without which this match would not exist.
        edits: the primitive changes, in order.
        inferred: provenance of a foreign tool's step; None where the rule says it.
    """

    step: int
    round: int
    pass_id: str
    rule: str
    match: MatchId
    root: str
    matched: tuple[str, ...]
    values: Mapping[str, str]
    reason: str
    seconds: float
    depends_on: tuple[int, ...]
    edits: tuple[Edit, ...]
    inferred: Inferred | None = None

    @property
    def added(self) -> tuple[str, ...]:
        """Ids of the nodes this rewrite put in."""
        return tuple(edit.id for edit in self.edits if isinstance(edit, InsertNode))

    @property
    def removed(self) -> tuple[str, ...]:
        """Ids of the nodes this rewrite took out, Constants and nodes of bodies included."""
        gone = [edit for edit in self.edits if isinstance(edit, RemoveNode)]
        return tuple(node for edit in gone for node in (edit.node, *edit.inner))


@frozen()
class DeclinedMatch:
    """A near match that still stood when the run ended, and the condition that failed.

    Attributes:
        pass_id: the pass.
        rule: the rule inside the pass.
        root: id of the node the rule was asked about.
        nodes: ids of the other nodes that the reason is about.
        reason: the condition that failed, and what is special about this place after a colon.
        round: in which it was said last; 0 in older traces.
        refused: the rule had a replacement, which would have broken the graph.
        unlock: what a user can do about it, where the rule knows.
    """

    pass_id: str
    rule: str
    root: str
    nodes: tuple[str, ...]
    reason: str
    round: int = 0
    refused: bool = False
    unlock: str = ""

    @property
    def condition(self) -> str:
        """The part of the reason that many places may share: what stands before a colon."""
        return self.reason.partition(": ")[0].rstrip(".")

    @property
    def detail(self) -> str:
        """What the reason says of this place alone."""
        return self.reason.partition(": ")[2].rstrip(".")


@frozen()
class FailedMatch:
    """A rule that raised, or a foreign tool that failed or broke the model: undone, and left out.

    Attributes:
        pass_id: the pass.
        rule: the rule inside the pass.
        root: id of the node the rule was asked about.
        matched: ids of the nodes of the pattern; empty where it failed before there was one.
        step: the step that this would have been.
        error: type and message of what was raised, and where in the code; of a foreign tool, a
            sentence.
    """

    pass_id: str
    rule: str
    root: str
    matched: tuple[str, ...]
    step: int
    error: str


@frozen()
class VetoedMatch:
    """A match that was offered and held back.

    Attributes:
        pass_id: the pass that offered it.
        rule: the rule inside the pass.
        root: id of the node the rule was asked about.
        matched: ids of the nodes of the pattern.
        match: its name.
        veto: the name of the match that was vetoed: this one, or one in whose place it is.
    """

    pass_id: str
    rule: str
    root: str
    matched: tuple[str, ...]
    match: MatchId
    veto: MatchId


@frozen()
class PassTiming:
    """What one pass did in one run; `seconds` is CPU time."""

    rewrites: int = 0
    declined: int = 0
    vetoed: int = 0
    tried: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class DataReference:
    """A data file of the source that a trace refers to instead of carrying it.

    Attributes:
        location: what the source calls it.
        size_bytes: of it.
        evidence: `optimizer.stored.evidence` of it.
    """

    location: str
    size_bytes: int
    evidence: str


@dataclass(slots=True)
class Trace:
    """One run of a pipeline over one model.

    Attributes:
        source_digest: sha256 (hex) of the source graph as the writer writes it; "" until saved.
        model_name: display text.
        pipeline: the pipeline as data (`Pipeline.to_json`).
        versions: software that took part; none until saved.
        seconds: CPU time of the whole run, import and verification apart.
        stopped: why the run ended early ("" when it reached its fixpoint).
        timings: per pass id.
        declined: near matches left at the end.
        failed: rules that raised, each once.
        vetoed: matches held back by the pipeline's vetoes.
        rewrites: the steps, in order.
        data: data files of the source that the trace's file goes without; none until saved.
        state: the graph as the run left it; None once it is read from a file.
    """

    source_digest: str
    model_name: str
    pipeline: Mapping[str, Any]
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    seconds: float = 0.0
    stopped: str = ""
    timings: dict[str, PassTiming] = field(default_factory=dict[str, PassTiming])
    declined: list[DeclinedMatch] = field(default_factory=list[DeclinedMatch])
    failed: list[FailedMatch] = field(default_factory=list[FailedMatch])
    vetoed: list[VetoedMatch] = field(default_factory=list[VetoedMatch])
    rewrites: list[Rewrite] = field(default_factory=list[Rewrite])
    data: tuple[DataReference, ...] = ()
    state: GraphState | None = None

    @property
    def steps(self) -> int:
        """The number of rewrites."""
        return len(self.rewrites)

    @property
    def exactness(self) -> Exactness:
        """What the passes that had a hand in it promise, the weakest promise of all."""
        fired = {rewrite.pass_id for rewrite in self.rewrites}
        configured = Pipeline.from_json(self.pipeline).passes
        promised = {p.exactness for p in configured if p.id in fired}
        if "lossy" in promised:
            return "lossy"
        return "reassociates" if "reassociates" in promised else "exact"
