"""The checklist of a capture: its lines, and what is found about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Rule = Literal[
    "control-flow",
    "shapes",
    "output-shapes",
    "tensors",
    "kernels",
    "copies",
    "waits",
    "host-values",
]
Severity = Literal["blocks", "follows", "condition", "note"]

RULES: Mapping[Rule, str] = {
    "control-flow": "No If, Loop or Scan",
    "shapes": "Inputs have fixed sizes",
    "output-shapes": "No size depends on data",
    "tensors": "Inputs and outputs are tensors of numbers",
    "kernels": "Every operator has a CUDA kernel",
    "copies": "No copies between CPU and GPU inside the graph",
    "waits": "No operator makes the host wait",
    "host-values": "No kernel takes its arguments from an input's values",
}
"""What a capture needs of the model, in the order of the checklist."""


@dataclass(frozen=True, slots=True)
class CaptureFinding:
    """One thing in the way, or worth knowing.

    Attributes:
        rule: which line of the checklist.
        severity: `blocks` capturing; `follows` from one that does; `condition`: it works as long
            as the remedy is kept to;
            `note`: tolerated.
        place: the node's or value's name.
        op_type: the node's operator, empty for an input or output.
        node: the node's id in its model, empty for an input or output.
        reason: one sentence.
        remedy: one sentence, empty for a note.
    """

    rule: Rule
    severity: Severity
    place: str
    op_type: str
    node: str
    reason: str
    remedy: str


@dataclass(frozen=True, slots=True)
class CaptureCheck:
    """The checklist of one model.

    Attributes:
        findings: in the order of the rules; empty for a model without any trouble.
        nodes: on each side: `cuda`, `cpu`, `folded`.
        runtime: whose kernels were looked up.
    """

    findings: tuple[CaptureFinding, ...]
    nodes: Mapping[str, int] = field(default_factory=dict[str, int])
    runtime: str = ""

    @property
    def possible(self) -> bool:
        """Whether nothing blocks a capture."""
        return not any(finding.severity == "blocks" for finding in self.findings)

    def of(self, rule: Rule) -> tuple[CaptureFinding, ...]:
        """The findings about one line of the checklist."""
        return tuple(finding for finding in self.findings if finding.rule == rule)
