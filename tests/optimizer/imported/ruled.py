"""Rules of a text over a model of a text, run as the command line runs them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

from optimizer.imported.own_rules import own_rules_allowed
from optimizer.model.graph import walk_nodes
from optimizer.model.writer import to_bytes
from optimizer.passes.imported.rewrite_by_onnxscript import RewriteByOnnxscript
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.verify import verify
from profiling.workers import default_pool
from tests.optimizer.graphs import loaded, parsed

HEAD = '<ir_version: 8, opset_import: ["" : {}]>\n'
RULES = """
import numpy as np
import onnx_ir as ir
from onnxscript.rewriter import RewriteRuleClassBase, RewriteRuleSet, pattern
from onnxscript.rewriter.pattern import MatchResult, OrValue, RewriteRule
"""


class Done:
    """One run of rules over a model, and what came of it."""

    def __init__(
        self,
        tmp_path: Path,
        text: str,
        rules: str | Sequence[str],
        *,
        opset: int = 17,
        commute: bool = False,
        vetoed: Sequence[str] = (),
        allowed: bool = True,
    ) -> None:
        if isinstance(rules, str):
            file = tmp_path / "rules.py"
            file.write_text(RULES + dedent(rules))
            rules = [str(file)]
        whole = text if text.startswith("<") else HEAD.format(opset) + text
        model = loaded(parsed(whole))
        self.source = to_bytes(model.ir)
        chosen = RewriteByOnnxscript(tuple(rules), commute)
        pipeline = replace(Pipeline((chosen,)), vetoed=frozenset(vetoed))
        with own_rules_allowed() if allowed else nullcontext():
            self.trace = optimize(model, pipeline, isolate=default_pool())
        self.graph = model.ir.graph
        self.opsets = dict(self.graph.opset_imports)
        self.result = to_bytes(model.ir)
        self.operators = [node.op_type for node in walk_nodes(self.graph)]
        self.rules = [rewrite.rule for rewrite in self.trace.rewrites]
        self.reasons = [declined.reason for declined in self.trace.declined]
        self.errors = [failed.error for failed in self.trace.failed]

    def agrees(self) -> bool:
        """Whether outputs are as they were."""
        return verify(self.source, self.result, isolate=default_pool()).verdict == "equal"


CHAIN = "g (float[2,3] x) => (float[2,3] y) { a = Neg(x) b = Abs(a) y = Relu(b) }"
ABS = """
abs_of_neg = RewriteRule(lambda op, x: op.Abs(op.Neg(x)), lambda op, x: op.Abs(x))
"""
