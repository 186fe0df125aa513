"""onnxsim, the ONNX simplifier, in a worker process."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from optimizer.imported.steps import Tool, changes_by
from optimizer.registry import Change, GraphPass, register
from optimizer.rules import Context


@register
class SimplifyByOnnxsim(GraphPass):
    """Simplify by onnxsim, in one step.

    What it does:
        The model is handed to onnxsim, and what it changed becomes one step: it tells nothing of
        single rewrites, so which node does the work of which is inferred from names and structure.
        `skipped` names optimizers of its that must not act.
    Before:
        x → Shape → Gather → Reshape
    After:
        x → Reshape
    When it is safe:
        What comes back is checked: the same inputs and outputs, and outputs that agree on random
        inputs. A tool that breaks the model is named and its step taken back.
    Numerics:
        Within 1e-3 of each output's scale, as far as random inputs show.
    Source:
        onnxsim, the ONNX simplifier.
    """

    id = "simplify-by-onnxsim"
    exactness = "reassociates"
    order = 20
    needs = "onnxsim"

    skipped: tuple[str, ...] = ()
    seconds: float = 120.0

    def changes(self, model: ir.Model, context: Context) -> Iterator[Change]:
        """All at once."""
        driver = "optimizer.imported.drivers.onnxsim_simplify"
        tool = Tool(
            "onnxsim", driver, ("onnxsim",), {"skipped": self.skipped}, self.seconds, self.missing()
        )
        return changes_by(tool, model, context)
