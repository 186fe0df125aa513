"""Collects everything the loader has to say, and decides which error to raise in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from optimizer.errors import (
    Cycle,
    Duplicate,
    ExternalDataRefused,
    InvalidGraph,
    LimitError,
    NotOnnx,
    StudioError,
    Truncated,
    Undefined,
    Unsupported,
    quoted,
)
from optimizer.findings import Finding, Status, Statuses
from optimizer.numbers import counted

EXPORT_AGAIN = "Export the model again."
"""The remedy for what only the exporter can put right."""

Use = Literal["optimizable", "runnable"]

MOST_FINDINGS = 500
"""Findings kept per model: a file with a million faults must not fill the page or the memory."""

# When several kinds of fault are present, the one that explains most is raised.
RANK: tuple[type[StudioError], ...] = (
    NotOnnx,
    Truncated,
    LimitError,
    Unsupported,
    ExternalDataRefused,
    Duplicate,
    Undefined,
    Cycle,
    InvalidGraph,
)


@dataclass(slots=True)
class Place:
    """Where something is, put into words only when a finding needs them.

    Attributes:
        what: the kind of thing, for example `node`.
        name: its name, quoted in the words; if it has none, `number` counts from 1 instead.
        around: the place it is in.
    """

    what: str
    name: str = ""
    around: Place | None = None
    number: int = 0

    def __str__(self) -> str:
        label = quoted(self.name) if self.name else str(self.number or "")
        inside = f" in {self.around}" if self.around is not None else ""
        return f"{self.what} {label}".rstrip() + inside


Where = str | Place


class Findings:
    """The findings about one model, in the order in which they were made."""

    def __init__(self) -> None:
        self._findings: list[Finding] = []
        self._errors: dict[type[StudioError], Finding] = {}
        self._blocked: dict[Use, str] = {}
        self._counts = Counter[str]()

    def error(
        self, kind: type[StudioError], where: Where, message: str, *, remedy: str = EXPORT_AGAIN
    ) -> None:
        """A fault that refuses the model; `kind` is what `raise_if_refused` will raise."""
        finding = Finding("error", str(where), message, remedy)
        self._errors.setdefault(kind, finding)
        self._keep(finding)

    def warning(
        self, where: Where, message: str, *, remedy: str = "", blocks: Sequence[Use] = ()
    ) -> None:
        """A fault that leaves the model viewable; `blocks` lists the uses it rules out."""
        finding = Finding("warning", str(where), message, remedy)
        for use in blocks:
            self._blocked.setdefault(use, str(finding))
        self._keep(finding)

    def note(self, where: Where, message: str) -> None:
        """Something that was put right, or is merely good to know."""
        self._keep(Finding("note", str(where), message))

    @property
    def refused(self) -> bool:
        """Whether an error was found."""
        return bool(self._errors)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings kept, and a closing note if there were too many to keep."""
        more = sum(self._counts.values()) - len(self._findings)
        if not more:
            return tuple(self._findings)
        return (
            *self._findings,
            Finding(
                "note", "", f"{counted(more, 'more finding is', 'more findings are')} not listed."
            ),
        )

    @property
    def statuses(self) -> Statuses:
        """The three answers, for a model that was not refused."""
        return Statuses(optimizable=self._status("optimizable"), runnable=self._status("runnable"))

    def raise_if_refused(self) -> None:
        """Raise the first error of the kind that explains most.

        Raises:
            StudioError: of the kind given to `error`, with all findings.
        """
        for kind in sorted(self._errors, key=RANK.index):
            others = self._counts["error"] - 1
            more = f" ({counted(others, 'more problem')})" if others else ""
            raise kind(f"{self._errors[kind]}{more}", findings=self.findings)

    def _status(self, use: Use) -> Status:
        reason = self._blocked.get(use, "")
        return Status(ok=not reason, reason=reason)

    def _keep(self, finding: Finding) -> None:
        self._counts[finding.severity] += 1
        if len(self._findings) < MOST_FINDINGS:
            self._findings.append(finding)
