"""One replacement by hand, without a pass: for tests of the Rewriter itself."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir
import pytest

from optimizer.model.graph import walk_nodes
from optimizer.model.writer import to_bytes
from optimizer.rewrite.applied import Applied
from optimizer.rewrite.refusal import Refused
from optimizer.rewrite.rewriter import Rewriter
from optimizer.rules.replacement import Replacement
from tests.optimizer.graphs import opened, printed


@dataclass(frozen=True, slots=True)
class Bench:
    """A small model and its Rewriter."""

    model: ir.Model
    rewriter: Rewriter

    def node(self, output: str) -> ir.Node:
        """The node that makes the value called `output`, in whichever graph."""
        return next(
            node
            for node in walk_nodes(self.model.graph)
            if any(value.name == output for value in node.outputs)
        )

    def value(self, name: str) -> ir.Value:
        """The value of this name."""
        return next(v for v in self.rewriter.state.values.values() if v.name == name)

    def apply(self, root: str, replacement: Replacement) -> Applied:
        """Apply at the node that makes `root`."""
        return self.rewriter.apply(self.node(root), replacement)

    def refusal(self, root: str, replacement: Replacement) -> str:
        """Why a replacement is refused; it must change nothing."""
        before = to_bytes(self.model)
        with pytest.raises(Refused) as caught:
            self.apply(root, replacement)
        assert to_bytes(self.model) == before
        return str(caught.value)

    def undo(self, applied: Applied) -> None:
        """Take one application back."""
        for edit in reversed(applied.edits):
            self.rewriter.state.revert(edit)

    def redo(self, applied: Applied) -> None:
        """Do it once more."""
        for edit in applied.edits:
            self.rewriter.state.apply(edit)

    @property
    def text(self) -> str:
        """The graph's body as text, one line."""
        return " ".join(printed(self.model).split("\n", 1)[1].split())


def bench(signature: str, *nodes: str, weights: str = "") -> Bench:
    """A bench over ONNX text: a signature, weights, and node lines."""
    inner = f" <{weights}>" if weights else ""
    body = "\n".join(nodes)
    text = f'<ir_version: 10, opset_import: ["" : 18]>\ng {signature}{inner} {{\n{body}\n}}'
    model = opened(text).ir
    return Bench(model, Rewriter(model))
