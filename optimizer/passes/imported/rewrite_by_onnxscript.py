"""onnxscript's rewrite rules, each match a step, in a worker process."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from optimizer.imported.own_rules import unfit
from optimizer.imported.rule_steps import changes_by_match
from optimizer.imported.steps import Tool
from optimizer.registry import Change, GraphPass, register
from optimizer.rules import Context, Declined


@register
class RewriteByOnnxscript(GraphPass):
    """Rewrite by onnxscript's rules, each match a step.

    What it does:
        Every match of a rewrite rule is a step of its own, named as the rule, with the nodes it
        matched and those it added; where a rule nearly fits it says why it does not. `rule_sets`
        names sets of rules, asked one after the other: `default`; `onnx_fusions`, layer and RMS
        normalization, rotary embedding and attention by standard operators; `ort_fusions`, by
        operators of ONNX Runtime; or a Python file with RewriteRules of your own, on the command
        line only. With `commute` operands of commutative operators are tried in both orders.
    Before:
        x → Transpose → Transpose → y
    After:
        x → Transpose → y
    When it is safe:
        The model as the rules leave it is checked: the same inputs and outputs, and outputs that
        agree on random inputs. A match that breaks it is found, named and not taken. Operators
        are those of the model's operator set.
    Numerics:
        Within 1e-3 of each output's scale, as far as random inputs show.
    Source:
        onnxscript, onnxscript.rewriter.
    """

    id = "rewrite-by-onnxscript"
    exactness = "reassociates"
    order = 60
    needs = "onnxscript"

    rule_sets: tuple[str, ...] = ("default",)
    commute: bool = False
    seconds: float = 120.0

    def changes(self, model: ir.Model, context: Context) -> Iterator[Change]:
        """A match at a time."""
        if reason := unfit(self.rule_sets):
            return iter([Change("WholeGraph", Declined(reason))])
        driver = "optimizer.imported.drivers.onnxscript_rules"
        options = {"rules": self.rule_sets, "commute": self.commute}
        tool = Tool("onnxscript", driver, ("onnxscript",), options, self.seconds, self.missing())
        return changes_by_match(tool, model, context)
