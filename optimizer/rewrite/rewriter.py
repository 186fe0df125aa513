"""The only thing that changes a graph: replacements, carried out whole or not at all.

Each is checked against what must hold for any rewrite (`refusal`), then applied (`application`).
"""

from __future__ import annotations

import onnx_ir as ir

from optimizer.rewrite.application import Application
from optimizer.rewrite.applied import Applied
from optimizer.rewrite.edited_graph import EditedGraph
from optimizer.rewrite.refusal import check
from optimizer.rules.replacement import Replacement


class Rewriter(EditedGraph):
    """Applies replacements to one model."""

    def apply(self, root: ir.Node, proposal: Replacement) -> Applied:
        """Carry out a proposal.

        Raises:
            Refused: it would break the graph; nothing was changed.
            Exception: the proposal makes no sense, or is not accepted; what was changed is undone.
        """
        begun: list[Application] = []
        try:
            for place, part in ((root, proposal), *proposal.parts.items()):
                check(self, place, part)
                begun.append(Application(self, place, part))
                begun[-1].run()
            if proposal.opsets:
                self.follow_opset(node for one in begun for node in one.done.added)
                for application in begun:
                    application.check_sizes()
            if proposal.accept is not None:
                proposal.accept()
        except Exception:
            for application in reversed(begun):
                for edit in reversed(application.done.edits):
                    self.state.revert(edit)
                self.state.forget(application.done.edits)
                self.renumber(application.graph)
            self.follow_opset(())
            raise
        for application in begun[1:]:
            begun[0].done.include(application.done)
        return begun[0].done
