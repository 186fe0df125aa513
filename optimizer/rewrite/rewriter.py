"""The only thing that changes a graph.

A `Replacement` is checked against what must hold for any rewrite (`refusal`), turned into
primitive edits, and applied (`application`).
"""

from __future__ import annotations

import onnx_ir as ir

from optimizer.rewrite.application import Application, Applied
from optimizer.rewrite.edited_graph import EditedGraph
from optimizer.rewrite.refusal import check
from optimizer.rules.replacement import Replacement


class Rewriter(EditedGraph):
    """Applies replacements to one model."""

    def apply(self, root: ir.Node, proposal: Replacement) -> Applied:
        """Carry out a proposal.

        Raises:
            Refused: it would break the graph; nothing was changed.
            Exception: the proposal makes no sense; what was changed is undone.
        """
        check(self, root, proposal)
        application = Application(self, root, proposal)
        try:
            return application.run()
        except Exception:
            for edit in reversed(application.done.edits):
                self.state.revert(edit)
            self.state.forget(application.done.edits)
            raise
