"""What shape inference found out about a model's values, for the run that follows it.

It lies in the metadata of the model it is about, which no clone and no file gets. Whoever changes
the graph takes it, and keeps it true, or discards it.
"""

from __future__ import annotations

from typing import cast

import onnx_ir as ir

from optimizer.model.symbolic import SymbolicValues

_KEPT = "passlens.known_values"


def keep(model: ir.Model, known: SymbolicValues) -> None:
    """Leave what is known about the values of a model, as it is now."""
    model.meta[_KEPT] = known


def take(model: ir.Model) -> SymbolicValues:
    """What was left, to one who asks only; else a table in which nothing is known yet."""
    kept = cast("SymbolicValues | None", model.meta.pop(_KEPT, None))
    return SymbolicValues(model) if kept is None else kept


def discard(model: ir.Model) -> None:
    """Forget what was left: the model is about to change."""
    model.meta.pop(_KEPT, None)
