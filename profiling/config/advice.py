"""What would be faster: options that a graph asks for by what the runtime makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from profiling.config.contradiction import Changes
from profiling.config.option import SEPARATOR, items, setting_text
from profiling.config.run_config import RunConfig

SLOW_OPERATORS: Mapping[str, str] = {
    "SkipLayerNormFusion": "SkipLayerNormalization",
    "BiasGeluFusion": "BiasGelu",
}
"""Rewrites of ONNX Runtime's that lead to slower kernels on a CPU -> the operator they write."""
SLOW_FUSIONS = tuple(SLOW_OPERATORS)

_OPTION = "optimizers_off"
_FUSING = ("extended", "layout", "all")


@dataclass(frozen=True, slots=True)
class Advice:
    """What would be faster.

    Attributes:
        why: a clause, operators by their names.
        changes: options to set.
    """

    why: str
    changes: Changes

    def __str__(self) -> str:
        settings = " ".join(setting_text(*one) for one in self.changes.items())
        return f"{self.why}: {settings} leaves that out."


def may_fuse(config: RunConfig) -> bool:
    """Whether the runtime does at least one of these rewrites under the options."""
    left_out = items(config.optimizers_off)
    fuses = config.device == "cpu" and config.graph_optimization in _FUSING
    return fuses and not all(name in left_out for name in SLOW_FUSIONS)


def advice(config: RunConfig, written: Mapping[str, int]) -> Advice | None:
    """What to set; None where nothing is known that would be faster.

    Args:
        config: the options now.
        written: by operator, how many of these slow ones the runtime wrote into the graph.
    """
    slow = {name: op for name, op in SLOW_OPERATORS.items() if written.get(op)}
    if not slow or not may_fuse(config):
        return None
    told = " and ".join(f"{written[op]} {op}" for op in slow.values())
    left_out = dict.fromkeys([*items(config.optimizers_off), *SLOW_FUSIONS])
    return Advice(
        f"ONNX Runtime's own rewrites put {told} in, which are slow on a CPU",
        {_OPTION: SEPARATOR.join(left_out)},
    )
