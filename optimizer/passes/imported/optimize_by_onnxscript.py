"""onnxscript, onnxscript.optimizer, in a worker process."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from optimizer.imported.steps import Tool, changes_by
from optimizer.registry import Change, GraphPass, register
from optimizer.rules import Context


@register
class OptimizeByOnnxscript(GraphPass):
    """Optimize by onnxscript, in one step.

    What it does:
        The model is handed to onnxscript's optimizer, and what it changed becomes one step. It
        folds constants, applies its default rewrite rules and cleans up; it tells nothing of single
        rewrites, so which node does the work of which is inferred from names and structure.
    Before:
        x → Identity → Cast(to the same) → y
    After:
        x → y
    When it is safe:
        What comes back is checked: the same inputs and outputs, and outputs that agree on random
        inputs. A tool that breaks the model is named and its step taken back.
    Numerics:
        Within 1e-3 of each output's scale, as far as random inputs show.
    Source:
        onnxscript, onnxscript.optimizer.
    """

    id = "optimize-by-onnxscript"
    exactness = "reassociates"
    order = 50
    needs = "onnxscript"

    seconds: float = 120.0

    def changes(self, model: ir.Model, context: Context) -> Iterator[Change]:
        """All at once."""
        driver = "optimizer.imported.drivers.onnxscript_optimizer"
        tool = Tool("onnxscript", driver, ("onnxscript",), {}, self.seconds, self.missing())
        return changes_by(tool, model, context)
