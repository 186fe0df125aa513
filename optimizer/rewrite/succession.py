"""What one rewrite made of the nodes it took out: the links that provenance follows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from optimizer.rewrite.edits import SetGraphOutput, SetInput
from optimizer.rewrite.trace import Rewrite

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
    if rewrite.added:
        return [Succession("merged", removed, rewrite.added)]
    own = _instead(rewrite)
    shared = list(dict.fromkeys(value for values in own.values() for value in values))
    stays = set(rewrite.matched) - set(removed)
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
            case SetInput(old=str(old), new=str(new)) | SetGraphOutput(old=old, new=new):
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
