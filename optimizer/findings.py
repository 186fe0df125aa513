"""What the loader has to say about a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a person should know about a model.

    Attributes:
        severity: `error` refuses the model, `warning` limits what can be done, `note` informs.
        where: the place, for example "node 'Conv_3'" or "initializer 'w'".
        message: what is there and which rule or limit it breaks.
        remedy: what to do about it; may be empty for notes.
    """

    severity: Severity
    where: str
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        sentence = f"{self.where}: {self.message}" if self.where else self.message
        return f"{sentence} {self.remedy}".strip()


@dataclass(frozen=True, slots=True)
class Status:
    """Whether one use of the model is possible, and why not."""

    ok: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Statuses:
    """The three separate answers: may it be looked at, optimized, run."""

    viewable: Status = Status(ok=True)
    optimizable: Status = Status(ok=True)
    runnable: Status = Status(ok=True)
