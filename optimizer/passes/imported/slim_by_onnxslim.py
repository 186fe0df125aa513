"""onnxslim, in a worker process."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from optimizer.imported.steps import Tool, changes_by
from optimizer.registry import Change, GraphPass, register
from optimizer.rules import Context


@register
class SlimByOnnxslim(GraphPass):
    """Slim by onnxslim, in one step.

    What it does:
        The model is handed to onnxslim, and what it changed becomes one step: it tells nothing of
        single rewrites, so which node does the work of which is inferred from names and structure.
        `skipped` names fusion patterns that must not act. With `infer_shapes` it may bind a free
        size to a number; the step is then not taken.
    Before:
        x → Conv → BatchNormalization
    After:
        x → Conv
    When it is safe:
        What comes back is checked: the same inputs and outputs, and outputs that agree on random
        inputs. A tool that breaks the model is named and its step taken back.
    Numerics:
        Within 1e-3 of each output's scale, as far as random inputs show.
    Source:
        onnxslim.
    """

    id = "slim-by-onnxslim"
    exactness = "reassociates"
    order = 30
    needs = "onnxslim"

    infer_shapes: bool = True
    skipped: tuple[str, ...] = ()
    seconds: float = 120.0

    def changes(self, model: ir.Model, context: Context) -> Iterator[Change]:
        """All at once."""
        driver = "optimizer.imported.drivers.onnxslim_slim"
        tool = Tool(
            "onnxslim",
            driver,
            ("onnxslim",),
            {"infer_shapes": self.infer_shapes, "skipped": self.skipped},
            self.seconds,
            self.missing(),
        )
        return changes_by(tool, model, context)
