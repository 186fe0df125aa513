"""Collects everything the loader has to say, and decides which error to raise in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
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
)
from optimizer.model.findings import Finding, Status, Statuses

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


class Report:
    """The findings about one model, in the order in which they were made."""

    def __init__(self) -> None:
        self._findings: list[Finding] = []
        self._errors: dict[type[StudioError], Finding] = {}
        self._blocked: dict[Use, str] = {}
        self._counts = Counter[str]()

    def error(
        self, kind: type[StudioError], where: str, message: str, *, remedy: str = ""
    ) -> None:
        """A fault that refuses the model; `kind` is what `raise_if_refused` will raise."""
        finding = Finding("error", where, message, remedy)
        self._errors.setdefault(kind, finding)
        self._keep(finding)

    def warning(
        self, where: str, message: str, *, remedy: str = "", blocks: Sequence[Use] = ()
    ) -> None:
        """A fault that leaves the model viewable; `blocks` lists the uses it rules out."""
        finding = Finding("warning", where, message, remedy)
        for use in blocks:
            self._blocked.setdefault(use, str(finding))
        self._keep(finding)

    def note(self, where: str, message: str) -> None:
        """Something that was put right, or is merely good to know."""
        self._keep(Finding("note", where, message))

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
        return (*self._findings, Finding("note", "", f"{more:,} more findings are not listed."))

    @property
    def statuses(self) -> Statuses:
        """The three answers, for a model that was not refused."""
        return Statuses(
            optimizable=self._status("optimizable"), runnable=self._status("runnable")
        )

    def raise_if_refused(self) -> None:
        """Raise the first error of the kind that explains most.

        Raises:
            StudioError: of the kind given to `error`, with all findings.
        """
        for kind in sorted(self._errors, key=RANK.index):
            others = self._counts["error"] - 1
            more = f" ({others:,} more problem{'s' if others > 1 else ''})" if others else ""
            raise kind(f"{self._errors[kind]}{more}", findings=self.findings)

    def _status(self, use: Use) -> Status:
        reason = self._blocked.get(use, "")
        return Status(ok=not reason, reason=reason)

    def _keep(self, finding: Finding) -> None:
        self._counts[finding.severity] += 1
        if len(self._findings) < MOST_FINDINGS:
            self._findings.append(finding)
