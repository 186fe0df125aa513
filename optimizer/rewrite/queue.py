"""What one pass has still to look at."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.registry import ANY, Pass, Rule
from optimizer.rewrite.trace import PassTiming


class Queue:
    """The nodes one pass has still to look at, in list order."""

    def __init__(self, planned: Pass) -> None:
        self.planned = planned
        self.rules: dict[str, list[Rule]] = {}
        for declared in planned.rules():
            for root in declared.roots:
                self.rules.setdefault(root, []).append(declared)
        self.everywhere = self.rules.pop(ANY, [])
        self.reach = max((r.reach for r in [*self.everywhere, *_all(self.rules)]), default=1)
        self.waiting: dict[ir.Node, None] = {}
        self.timing = PassTiming()
        self.tried = 0

    def rules_for(self, operator: str) -> list[Rule]:
        """The rules rooted at an operator."""
        found = self.rules.get(operator)
        return self.everywhere if found is None else [*found, *self.everywhere]


def _all(rules: dict[str, list[Rule]]) -> list[Rule]:
    return [declared for listed in rules.values() for declared in listed]


def operator_of(node: ir.Node) -> str:
    """The operator as rules name it."""
    domain = node.domain
    return f"{domain}::{node.op_type}" if domain else node.op_type
