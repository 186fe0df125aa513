"""Inputs that nobody gives."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.errors import quoted
from optimizer.numbers import bytes_text, counted
from optimizer.registry import ANY, Pass, register, rule
from optimizer.rules import Context, Outcome, Replacement


@register
class FixDefaults(Pass):
    """Fix inputs that have a default.

    What it does:
        An input with a default, which a caller may override, is a constant from here on, so that
        other passes, and the runtime, can compute with it beforehand. Exporters that list all
        weights as inputs leave such models: neither BatchNormalization nor bias goes into a Conv.
    Before:
        x, w = 0.5 → Conv(x, w) → BatchNormalization
    After:
        x → Conv(x, 0.5) → BatchNormalization
    When it is safe:
        No caller gives such an input a value of its own: that is for you to say, and so the pass
        is on request. The other inputs stay as they are.
    Numerics:
        Bit-identical where the defaults are used.
    Source:
        ONNX specification of graphs: an initializer of the name of an input is its default.
    """

    id = "fix-defaults"
    exactness = "exact"
    presets = ()
    order = 5

    @rule(ANY, name="InputsWithDefaults")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """At the first node asked about, look at the inputs of the model."""
        graph = node.graph
        if not isinstance(graph, ir.Graph) or graph in context.memory:
            return None
        context.memory[graph] = True
        fixed = [value for value in graph.inputs if value.is_initializer()]
        if not fixed:
            return None
        size = bytes_text(sum(v.const_value.nbytes for v in fixed if v.const_value is not None))
        more = f" and {counted(len(fixed) - 1, 'other input')}" if len(fixed) > 1 else ""
        verb = "have defaults" if more else "has a default"
        reason = f"{quoted(fixed[0].name or '')}{more} {verb} ({size}) that no caller overrides."
        return Replacement([], {}, reason, fixed=fixed)
