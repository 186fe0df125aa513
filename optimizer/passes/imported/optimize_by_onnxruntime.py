"""ONNX Runtime's own graph transformers, each a step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import onnx_ir as ir

from optimizer.imported.steps import Tool, changes_by
from optimizer.registry import Change, GraphPass, register
from optimizer.rules import Context


@register
class OptimizeByOnnxruntime(GraphPass):
    """Optimize by ONNX Runtime's own transformers.

    What it does:
        Every transformer and every rule by which ONNX Runtime would rewrite the model when it is
        loaded is a step of its own, named as there. `level` says how far it goes: basic, standard
        operators; extended, fused operators of its own; all, those for this processor, too.
        `transformers` names those that may act; none for all.
    Before:
        x → Conv → BatchNormalization → Relu
    After:
        x → FusedConv
    When it is safe:
        Each step is checked: the same inputs and outputs, and outputs that agree on random inputs.
        One that breaks the model is named and taken back. Bodies stay as they are.
    Numerics:
        Within 1e-3 of each output's scale, as far as random inputs show.
    Source:
        ONNX Runtime, onnxruntime/core/optimizer, run with all other transformers switched off.
    """

    id = "optimize-by-onnxruntime"
    exactness = "reassociates"
    order = 10

    level: Literal["basic", "extended", "all"] = "extended"
    transformers: tuple[str, ...] = ()
    seconds: float = 120.0

    def changes(self, model: ir.Model, context: Context) -> Iterator[Change]:
        """A transformer at a time."""
        options = {"level": self.level, "transformers": self.transformers}
        driver = "optimizer.imported.drivers.onnxruntime_transformers"
        packages = ("onnxruntime-gpu", "onnxruntime")
        tool = Tool("ONNX Runtime", driver, packages, options, self.seconds)
        return changes_by(tool, model, context)
