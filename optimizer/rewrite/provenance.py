"""Where a node came from and what became of it: a reader of the trace, both ways.

The two are one relation: a source node ends in exactly the nodes that name it as an origin. Only
what no node computes any more has no such end: it is folded, bypassed or dead.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from optimizer.rewrite.succession import Succession, made_from, successions
from optimizer.rewrite.trace import Trace

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
