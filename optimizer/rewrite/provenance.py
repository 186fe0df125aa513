"""Where a node came from and what became of it: a reader of the trace, both ways."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from optimizer.rewrite.trace import Rewrite, Trace

FateKind = Literal["kept", "merged", "folded", "dead"]


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a node of the source.

    Attributes:
        kind: `kept`; `merged` into other nodes (or a graph input, when it did nothing); `folded`
            into an initializer; `dead`, nothing needed it.
        into: ids of the nodes, values or initializers that took its place at the end.
        step: the step at which the node itself went away; None when it is kept.
    """

    kind: FateKind
    into: tuple[str, ...] = ()
    step: int | None = None


class Provenance:
    """The family tree of all nodes of a trace."""

    def __init__(self, trace: Trace) -> None:
        self._parents: dict[str, tuple[str, ...]] = {}
        self._heirs: dict[str, tuple[int, tuple[str, ...]]] = {}
        for rewrite in trace.rewrites:
            self._read(rewrite)

    def origins(self, node: str) -> tuple[str, ...]:
        """The source nodes a node was made from; itself when it is one."""
        found: dict[str, None] = {}
        pending, seen = [node], {node}
        while pending:
            current = pending.pop()
            parents = self._parents.get(current)
            if parents is None:
                found[current] = None
                continue
            pending.extend(p for p in reversed(parents) if p not in seen)
            seen.update(parents)
        return tuple(found)

    def fate(self, node: str) -> Fate:
        """What became of a node by the end of the trace."""
        if node not in self._heirs:
            return Fate("kept")
        step, _ = self._heirs[node]
        ends = tuple(dict.fromkeys(self._follow(node)))
        if not ends:
            return Fate("dead", (), step)
        folded = all(_is_initializer(end) for end in ends)
        return Fate("folded" if folded else "merged", ends, step)

    def history(self, node: str) -> tuple[int, ...]:
        """The steps in which a node or one of its heirs was replaced."""
        steps: set[int] = set()
        pending, seen = [node], {node}
        while pending:
            entry = self._heirs.get(pending.pop())
            if entry is not None:
                steps.add(entry[0])
                pending.extend(heir for heir in entry[1] if heir not in seen)
                seen.update(entry[1])
        return tuple(sorted(steps))

    def _read(self, rewrite: Rewrite) -> None:
        added, removed = rewrite.added, rewrite.removed
        for node in added:
            self._parents[node] = rewrite.matched
        targets = {_owner(old): _owner(new) for old, new in rewrite.values.items()}
        for node in removed:
            if node not in rewrite.matched:
                heirs = added or tuple(targets.values())  # a Constant only they used
            elif node in targets:
                heirs = (targets[node],)
            else:
                heirs = added or tuple(targets.values())
            self._heirs[node] = (rewrite.step, tuple(dict.fromkeys(heirs)))

    def _follow(self, node: str) -> Iterable[str]:
        pending, seen = [node], {node}
        while pending:
            current = pending.pop()
            entry = self._heirs.get(current)
            if entry is None:
                yield current
                continue
            pending.extend(heir for heir in entry[1] if heir not in seen)
            seen.update(entry[1])


def _owner(value: str) -> str:
    """The node behind a value id; graph inputs and initializers stand for themselves."""
    return value.partition(":")[0]


def _is_initializer(identity: str) -> bool:
    return identity.startswith("w") or "~w" in identity
