"""Code in the order of a schedule that somebody made, as a candidate of a race."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from optimizer.isolation import Isolate
from optimizer.model.generated_functions import KernelBody
from profiling.config import Value
from profiling.config.session import Device
from profiling.kernels.generated.checking import Checked
from profiling.kernels.generated.edge_cases import EdgeCase
from profiling.kernels.generated.implementations import GeneratedCode
from profiling.kernels.generated.own_schedules import OwnSchedule


@dataclass(frozen=True, slots=True)
class OwnCode:
    """Halide's code in the order of a schedule that somebody made."""

    own: OwnSchedule

    @property
    def label(self) -> str:
        """See `Implementation`."""
        return self.own.label

    @property
    def target(self) -> Device:
        """See `Implementation`."""
        return "cpu"

    @property
    def own_process(self) -> bool:
        """See `Implementation`."""
        return False

    @property
    def changes(self) -> Mapping[str, Value]:
        """See `Implementation`."""
        return GeneratedCode(self.label, "halide").changes

    def supports(self, body: KernelBody) -> str:
        """Whether there are loops, and what builds them."""
        return GeneratedCode(self.label, "halide").supports(body)

    def build(self, model: bytes, isolate: Isolate) -> None:
        """See `Implementation`."""
        GeneratedCode(self.label, "halide").build(model, isolate)

    def check(self, model: bytes, cases: Sequence[EdgeCase], isolate: Isolate) -> Checked:
        """See `Implementation`."""
        return GeneratedCode(self.label, "halide").check(model, cases, isolate)
