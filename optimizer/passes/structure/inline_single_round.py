"""Loop and Scan that go round once."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.model.graph import is_used
from optimizer.passes.draft import NotHere
from optimizer.passes.structure.unroll_loop import CountedLoop, rounds_of, unrolled
from optimizer.passes.structure.unroll_scan import CountedScan, scan_of, unrolled_scan
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, Outcome


@register
class InlineSingleRound(Pass):
    """Inline the body of a Loop or a Scan that goes round once.

    What it does:
        The nodes of the body stand in place of the Loop or the Scan.
    Before:
        x → Loop(1, body: Relu → Add(round))
    After:
        x → Relu → Add(0)
    When it is safe:
        There is one round, whatever the inputs are. No more than one slice is read or result
        stacked, or there would be more nodes than before. Control flow in the body comes with it.
    Numerics:
        Bit-identical: the same operators run.
    Source:
        ONNX operator specification, Loop and Scan.
    """

    id = "inline-single-round"
    exactness = "exact"
    order = 15

    @rule("Loop", name="LoopOfOneRound", reach=3)
    def loop(self, node: ir.Node, context: Context) -> Outcome:
        """A Loop with one round."""
        attribute = node.attributes.get("body")
        if attribute is None or attribute.is_ref():
            return None
        body = attribute.as_graph()
        try:
            counted = CountedLoop(node, body, rounds_of(node, body, context))
        except NotHere:
            return None
        if counted.rounds != 1 or sum(map(is_used, node.outputs[counted.carried :])) > 1:
            return None
        try:
            return unrolled(counted, context)
        except NotHere as why:
            return Declined(f"The Loop goes round once, but {why}")

    @rule("Scan", name="ScanOfOneRound")
    def scan(self, node: ir.Node, context: Context) -> Outcome:
        """A Scan with one round."""
        counted = scan_of(node, context)
        if not isinstance(counted, CountedScan) or counted.rounds != 1:
            return None
        if counted.sliced + counted.stacked > 1:
            return None
        try:
            return unrolled_scan(counted, context)
        except NotHere as why:
            return Declined(f"The Scan goes round once, but {why}")
