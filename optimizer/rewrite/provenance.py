"""Where a node came from and what became of it: a reader of the trace, both ways.

The two are one relation: a source node ends in exactly the nodes that name it as an origin. Only
what no node computes any more has no such end: it is folded, bypassed or dead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from optimizer.rewrite.edits import SetGraphOutput, SetInput
from optimizer.rewrite.trace import Rewrite, Trace

SuccessionKind = Literal["merged", "bypassed", "folded", "dead"]


@dataclass(frozen=True, slots=True)
class Succession:
    """Nodes that left in one rewrite and share their fate.

    Attributes:
        kind: `merged`, their work is done by the nodes `into`; `bypassed`, their readers take what
            the nodes or graph inputs `into` give; `folded` into the initializers `into`; `dead`,
            nothing needed them.
        nodes: their ids, in the order of the rewrite.
        into: ids of what took their place.
    """

    kind: SuccessionKind
    nodes: tuple[str, ...]
    into: tuple[str, ...] = ()


def successions(rewrite: Rewrite) -> list[Succession]:
    """What became of every node that a rewrite took out, Constants and nodes of bodies included.

    New nodes do the work of the whole pattern, so all that left is merged into all of them. Without
    new nodes it depends on what the readers of a node take instead; a node inside the pattern has
    no readers and shares what the others come to.
    """
    removed = rewrite.removed
    if not removed:
        return []
    if rewrite.inferred is not None:
        return _inferred(rewrite)
    if rewrite.added:
        return [Succession("merged", removed, rewrite.added)]
    return _read_elsewhere(rewrite, removed)


def _inferred(rewrite: Rewrite) -> list[Succession]:
    """Of a foreign tool's step: new nodes do the work of what left in their own place."""
    assert rewrite.inferred is not None
    left, found = dict.fromkeys(rewrite.removed), list[Succession]()
    for place in rewrite.inferred.places:
        gone = tuple(node for node in place.sources if node in left)
        if place.added and gone:
            found.append(Succession("merged", gone, place.added))
            for node in gone:
                del left[node]
    return [*found, *_read_elsewhere(rewrite, tuple(left))]


def _read_elsewhere(rewrite: Rewrite, removed: tuple[str, ...]) -> list[Succession]:
    """Of removed nodes that no new one stands for: by what their readers take instead."""
    own = _instead(rewrite)
    shared = list(dict.fromkeys(value for values in own.values() for value in values))
    stays = set(rewrite.matched) - set(rewrite.removed)
    found: dict[tuple[SuccessionKind, tuple[str, ...]], list[str]] = {}
    for node in removed:
        found.setdefault(_classified(own.get(node, shared), stays), []).append(node)
    return [Succession(kind, tuple(nodes), into) for (kind, into), nodes in found.items()]


def made_from(rewrite: Rewrite) -> dict[str, tuple[str, ...]]:
    """Which nodes each node does the work of from this step on, besides what it did before.

    New nodes come from everything matched, also from what stays; a matched node that stays takes
    over what is merged into it.
    """
    removed = rewrite.removed
    if rewrite.inferred is not None:
        return {node: place.sources for place in rewrite.inferred.places for node in place.added}
    if rewrite.added:
        sources = tuple(dict.fromkeys([*rewrite.matched, *removed]))
        return dict.fromkeys(rewrite.added, sources)
    found: dict[str, tuple[str, ...]] = {}
    for left in successions(rewrite):
        if left.kind == "merged":
            for node in left.into:
                found[node] = (*found.get(node, ()), *left.nodes)
    return found


def _instead(rewrite: Rewrite) -> dict[str, list[str]]:
    """For each removed node with readers, the values they take instead."""
    removed = set(rewrite.removed)
    found: dict[str, list[str]] = {}
    for old, new in (*rewrite.values.items(), *_rewired(rewrite)):
        if owner(old) in removed:
            values = found.setdefault(owner(old), [])
            if new not in values:
                values.append(new)
    return found


def _rewired(rewrite: Rewrite) -> Iterator[tuple[str, str]]:
    for edit in rewrite.edits:
        match edit:
            case SetInput(old=str(old), new=str(new)) | SetGraphOutput(old=str(old), new=new):
                yield old, new
            case _:
                pass


def _classified(values: list[str], stays: set[str]) -> tuple[SuccessionKind, tuple[str, ...]]:
    """The fate of a node whose readers take these values instead."""
    owners = tuple(dict.fromkeys(map(owner, values)))
    nodes = tuple(o for o in owners if not is_initializer(o))
    if not owners:
        return "dead", ()
    if not nodes:
        return "folded", owners
    if merged := tuple(o for o in nodes if o in stays):
        return "merged", merged
    return "bypassed", nodes


def owner(value: str) -> str:
    """The node behind a value id; graph inputs and initializers stand for themselves."""
    return value.partition(":")[0]


def is_initializer(identity: str) -> bool:
    """Whether an id is an initializer's, of the source or made by a rewrite."""
    return identity.startswith("w") or "~w" in identity


FateKind = Literal["kept", "merged", "bypassed", "folded", "dead"]
_Links = Mapping[str, list[tuple[int, str]]]


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a node.

    Attributes:
        kind: `kept`; `merged` into other nodes; `bypassed`, its readers take what other nodes or
            graph inputs give; `folded` into initializers; `dead`, nothing needed it.
        into: ids of the nodes that do its work at the end, besides itself when it is kept; of the
            nodes, inputs or initializers that are read instead when it is bypassed or folded.
        step: the step at which the node itself went away; None when it is kept.
    """

    kind: FateKind
    into: tuple[str, ...] = ()
    step: int | None = None


class Provenance:
    """The family tree of all nodes of a trace."""

    def __init__(self, trace: Trace) -> None:
        self._born: dict[str, int] = {}
        self._left: dict[str, tuple[int, Succession]] = {}
        self._sources: dict[str, list[tuple[int, str]]] = {}
        self._heirs: dict[str, list[tuple[int, str]]] = {}
        for rewrite in trace.rewrites:
            step = rewrite.step
            self._born.update(dict.fromkeys(rewrite.added, step))
            for left in successions(rewrite):
                self._left.update(dict.fromkeys(left.nodes, (step, left)))
            for node, sources in made_from(rewrite).items():
                for source in sources:
                    self._sources.setdefault(node, []).append((-step, source))
                    self._heirs.setdefault(source, []).append((step, node))

    def origins(self, node: str, *, step: int | None = None) -> tuple[str, ...]:
        """The source nodes whose work a node does, at a step or at the end; itself if it is one."""
        found = _reached(node, self._sources, after=-math.inf if step is None else -step - 1)
        return tuple(identity for identity in found if identity not in self._born)

    def fate(self, node: str) -> Fate:
        """What became of a node by the end of the trace."""
        into = tuple(n for n in _reached(node, self._heirs) if n not in self._left and n != node)
        if node not in self._left:
            return Fate("kept", into)
        step = self._left[node][0]
        if into:
            return Fate("merged", into, step)
        bypassed, folded = self._read_instead(node)
        if bypassed or folded:
            return Fate("bypassed" if bypassed else "folded", bypassed or folded, step)
        return Fate("dead", (), step)

    def _read_instead(self, node: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What is read at the end in place of a node that no other does the work of.

        Returns: nodes or graph inputs, and initializers.
        """
        bypassed: dict[str, None] = {}
        folded: dict[str, None] = {}
        pending, seen = [(node, -math.inf)], {node}
        while pending:
            current, after = pending.pop()
            if current not in self._left:
                bypassed[current] = None
                continue
            for heir in _reached(current, self._heirs, after=after):
                if heir not in self._left:
                    bypassed[heir] = None
                    continue
                step, left = self._left[heir]
                if left.kind == "folded":
                    folded.update(dict.fromkeys(left.into))
                elif left.kind == "bypassed":
                    pending.extend((other, step) for other in left.into if other not in seen)
                    seen.update(left.into)
        return tuple(bypassed), tuple(folded)


def _reached(start: str, links: _Links, *, after: float = -math.inf) -> list[str]:
    """The nodes that links lead to from a node, itself first, each link later than the one before.

    Args:
        start: the node.
        links: for each node what follows it, with a number that says when.
        after: only links with a higher number count.
    """
    earliest = {start: after}
    pending = [start]
    while pending:
        current = pending.pop()
        since = earliest[current]
        for when, following in links.get(current, ()):
            if when > since and when < earliest.get(following, math.inf):
                earliest[following] = when
                pending.append(following)
    return list(earliest)
