"""onnxoptimizer, the ONNX project's optimizer, in a worker process."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from optimizer.imported.steps import Tool, changes_by
from optimizer.registry import Change, GraphPass, register
from optimizer.rules import Context


@register
class OptimizeByOnnxoptimizer(GraphPass):
    """Optimize by onnxoptimizer's passes.

    What it does:
        Each of onnxoptimizer's passes that changes the model is a step of its own, named as there.
        `passes` names those that may act, in order; none for all that fuse or eliminate.
    Before:
        x → Transpose → Transpose → y
    After:
        x → y
    When it is safe:
        What comes back is checked: the same inputs and outputs, and outputs that agree on random
        inputs. A tool that breaks the model is named and its step taken back.
    Numerics:
        Within 1e-3 of each output's scale, as far as random inputs show.
    Source:
        onnxoptimizer, the ONNX project's optimizer.
    """

    id = "optimize-by-onnxoptimizer"
    exactness = "reassociates"
    order = 40
    needs = "onnxoptimizer"

    passes: tuple[str, ...] = ()
    seconds: float = 120.0

    def changes(self, model: ir.Model, context: Context) -> Iterator[Change]:
        """A pass of its at a time."""
        driver = "optimizer.imported.drivers.onnxoptimizer_passes"
        tool = Tool(
            "onnxoptimizer",
            driver,
            ("onnxoptimizer",),
            {"passes": self.passes},
            self.seconds,
            self.missing(),
        )
        return changes_by(tool, model, context)
