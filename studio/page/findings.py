"""Findings by kind: a model with one fault in two hundred places has one thing to say."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from optimizer.findings import Finding, Severity
from optimizer.numbers import counted

SHOWN_PLACES = 3
_QUOTED = re.compile(r"'[^']*'|\d[\d,.]*")


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """Findings that differ in nothing but their places, names and numbers.

    Attributes:
        severity: of all of them.
        message: of the first.
        remedy: of the first.
        places: where they are, in the order in which they were found.
    """

    severity: Severity
    message: str
    remedy: str
    places: tuple[str, ...]

    def where(self) -> str:
        """The first few places, and how many there are in all."""
        shown = ", ".join(filter(None, self.places[:SHOWN_PLACES]))
        if len(self.places) <= SHOWN_PLACES:
            return shown
        return f"{counted(len(self.places), 'place')}: {shown}, …"

    def __str__(self) -> str:
        where = self.where()
        return f"{where}: {self.message} {self.remedy}".lstrip(": ").strip()


def by_kind(findings: Iterable[Finding]) -> list[FindingGroup]:
    """Findings grouped, in the order of each group's first."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        key = (finding.severity, _QUOTED.sub("…", finding.message))
        groups.setdefault(key, []).append(finding)
    return [
        FindingGroup(one[0].severity, one[0].message, one[0].remedy, tuple(f.where for f in one))
        for one in groups.values()
    ]
