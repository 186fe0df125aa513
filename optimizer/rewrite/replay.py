"""Any step of a trace as a graph again: edits forward, edits backward, nothing is re-matched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import onnx_ir as ir

from optimizer.errors import TraceError
from optimizer.model.writer import to_bytes
from optimizer.rewrite.edits import Edit
from optimizer.rewrite.graph_state import GraphState
from optimizer.rewrite.trace import Trace


class Cursor:
    """Stands at one step of a trace and moves.

    `state` holds the graph at `step`, with the ids the trace uses: what `optimize` left behind
    (`Cursor.at_end`), or the source freshly read (step 0).
    """

    def __init__(self, state: GraphState, trace: Trace, *, step: int) -> None:
        self.state = state
        self.trace = trace
        self.step = step

    @staticmethod
    def at_end(trace: Trace) -> Cursor:
        """The cursor over the graph that `optimize` has just rewritten.

        Raises:
            TraceError: the trace was read from a file; `open_trace` gives its cursor.
        """
        if trace.state is None:
            raise TraceError("The trace has no live graph; open its file instead.")
        return Cursor(trace.state, trace, step=trace.steps)

    @property
    def model(self) -> ir.Model:
        """The graph at the current step."""
        return self.state.model

    def seek(self, step: int) -> ir.Model:
        """Move to a step and return the graph there.

        Raises:
            TraceError: there is no such step, or the trace does not fit the model.
        """
        if not 0 <= step <= self.trace.steps:
            raise TraceError(f"There is no step {step}; the trace has {self.trace.steps}.")
        while self.step < step:
            rewrite = self.trace.rewrites[self.step]
            self._carry_out(self.state.apply, rewrite.edits, rewrite.step)
            self.step += 1
        while self.step > step:
            rewrite = self.trace.rewrites[self.step - 1]
            self._carry_out(self.state.revert, rewrite.edits[::-1], rewrite.step)
            self.step -= 1
        return self.model

    def edits_between(self, one: int, other: int) -> Iterator[Edit]:
        """The edits of the steps between two, in the order of the trace."""
        for rewrite in self.trace.rewrites[min(one, other) : max(one, other)]:
            yield from rewrite.edits

    def materialize(self, step: int) -> bytes:
        """The ONNX file of a step."""
        return to_bytes(self.seek(step))

    def _carry_out(self, change: Callable[[Edit], None], edits: Iterable[Edit], step: int) -> None:
        try:
            for edit in edits:
                change(edit)
        except (KeyError, ValueError) as error:
            raise TraceError(
                f"Step {step} does not fit this model: the trace was made from another source."
            ) from error
