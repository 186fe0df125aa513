"""A chain of operators before and after it became one: its time, and what goes through memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from optimizer.codec import Format
from optimizer.cost.predict import Parts

Role = Literal["input", "between", "output", "weight"]


@dataclass(frozen=True, slots=True)
class Access:
    """One tensor that a kernel reads from memory, or writes there.

    Attributes:
        tensor: its number; equal for equal tensors of one version.
        label: for people.
        shape: its sizes.
        role: where it comes from.
    """

    tensor: int
    label: str
    shape: str
    size_bytes: int
    role: Role


@dataclass(frozen=True, slots=True)
class FusedKernel:
    """One node.

    Attributes:
        detail: what tells it from others of its operator.
    """

    op_type: str
    detail: str
    parts: Parts
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]


@dataclass(frozen=True, slots=True)
class Version:
    """The chain, one way.

    Attributes:
        name: for people.
        kernels: in order, one launch each.
    """

    name: str
    kernels: tuple[FusedKernel, ...]

    @property
    def total_us(self) -> float:
        """All kernels, one after the other."""
        return sum(kernel.parts.total_us for kernel in self.kernels)

    @property
    def activations(self) -> tuple[Access, ...]:
        """Every read and write of a tensor that is no weight."""
        moved = [a for kernel in self.kernels for a in (*kernel.reads, *kernel.writes)]
        return tuple(access for access in moved if access.role != "weight")

    @property
    def activation_bytes(self) -> int:
        """Bytes of activations that go through memory."""
        return sum(access.size_bytes for access in self.activations)

    @property
    def weight_bytes(self) -> int:
        """Bytes of weights read."""
        reads = [access for kernel in self.kernels for access in kernel.reads]
        return sum(access.size_bytes for access in reads if access.role == "weight")


@dataclass(frozen=True, slots=True)
class Fusion:
    """A chain as it is, as our passes make it, and as one kernel would be.

    Attributes:
        title: of the chain.
        ideal: launch once, read what comes from outside, write the result, all arithmetic as it
            is; None where the passes made one kernel of it.
        fired: titles of the passes that changed it.
    """

    title: str
    before: Version
    after: Version
    ideal: Version | None
    fired: tuple[str, ...]

    @property
    def best(self) -> Version:
        """What fusing comes to: what the passes made, or one kernel where they made none."""
        return self.after if self.ideal is None else self.ideal

    @property
    def speedup(self) -> float:
        """Predicted, of what the passes made; 1 where they changed nothing."""
        after = self.after.total_us
        return self.before.total_us / after if after else 1.0


FUSION_FORM = Format(Fusion, "passlens.fusion/2", "explanation of a chain")
