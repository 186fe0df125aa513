"""Nodes that give back their first input: their readers take that input instead."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar

import onnx_ir as ir

from optimizer.registry import Pass, rule
from optimizer.rules import Context, Declined, Outcome, Replacement

Verdict = str | Declined | None
"""Why a node gives back its first input, in a sentence; or a near miss, or nothing."""

Of = TypeVar("Of", bound=Pass)
Judge = Callable[[Of, ir.Node, ir.Value, Context], Verdict]


def bypass(
    *roots: str, name: str, reach: int = 1
) -> Callable[[Judge[Of]], Callable[[Of, ir.Node, Context], Outcome]]:
    """Mark a method that judges a node and its first input as a rule, as `rule` does."""

    def mark(judge: Judge[Of]) -> Callable[[Of, ir.Node, Context], Outcome]:
        @rule(*roots, name=name, reach=reach)
        @functools.wraps(judge)
        def match(self: Of, node: ir.Node, context: Context) -> Outcome:
            source = node.inputs[0] if node.inputs else None
            verdict = None if source is None else judge(self, node, source, context)
            if source is None or not isinstance(verdict, str):
                return verdict if isinstance(verdict, Declined) else None
            return Replacement([node], {node.outputs[0]: source}, verdict)

        return match

    return mark
