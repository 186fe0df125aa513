"""Which matches the vetoes of a pipeline hold back.

A veto names one match and means its place: what that rewrite would take out or change stays as it
is. Its place is taken down when the match is first offered; from then on no match of the same pass
may touch it, whatever its rule or its root, or the same change would come back under another name.
Other passes are free to.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Set
from dataclasses import replace

import onnx_ir as ir

from optimizer.model.graph import node_id, readers, value_id
from optimizer.rewrite.trace import MatchId, VetoedMatch
from optimizer.rules.replacement import Replacement

Position = Callable[[ir.Node], float]
Spot = str | tuple[str, int]
"""A node or value id, or one input of a node that stays."""


def leaving_nodes(proposal: Replacement, position: Position) -> Set[ir.Node]:
    """The matched nodes that nothing will need any more, so that their names become free."""
    read = (operand for made in proposal.nodes for operand in made.reads())
    needed = {*read, *proposal.values.values(), *proposal.inputs.values()}
    leaving: set[ir.Node] = set()
    for node in sorted(proposal.matched, key=position, reverse=True):
        rest = (value for value in node.outputs if value not in proposal.values)
        if not any(
            value in needed
            or value.is_graph_output()
            or any(reader not in leaving for reader in readers(value))
            for value in rest
        ):
            leaving.add(node)
    return leaving


class Vetoes:
    """The vetoes of one run, and what they held back."""

    def __init__(self, vetoed: Collection[str], position: Position) -> None:
        self._vetoed, self._position = vetoed, position
        self._places: dict[str, dict[Spot, MatchId]] = {}
        self._held: dict[MatchId, VetoedMatch] = {}

    @property
    def held(self) -> list[VetoedMatch]:
        """The matches held back, each once, in the order in which they were first offered."""
        return list(self._held.values())

    def hold(self, match: VetoedMatch, proposal: Replacement) -> bool:
        """Whether a match on offer is vetoed, or touches the place of a vetoed one."""
        places = self._places.setdefault(match.pass_id, {})
        vetoed = match.match in self._vetoed
        if not vetoed and not places:
            return False
        spots = _place(proposal, self._position)
        if vetoed:
            for spot in spots:
                places.setdefault(spot, match.match)
        else:
            veto = next((places[spot] for spot in spots if spot in places), None)
            if veto is None:
                return False
            match = replace(match, veto=veto)
        self._held.setdefault(match.match, match)
        return True


def _place(proposal: Replacement, position: Position) -> dict[Spot, None]:
    """What a rewrite would take out or change; nodes it only reads are none of it."""
    leaving = leaving_nodes(proposal, position)
    spots: dict[Spot, None] = dict.fromkeys(map(node_id, leaving))
    spots.update(dict.fromkeys(map(node_id, proposal.attributes)))
    spots.update({(node_id(node), index): None for node, index in proposal.inputs})
    spots.update({value_id(v): None for v in proposal.values if v.producer() not in leaving})
    for part in proposal.parts.values():
        spots.update(_place(part, position))
    return spots
