"""The pass registry as the browser and the catalogue page get it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from optimizer.registry import INSTALL, Pass, find, passes

if TYPE_CHECKING:
    from optimizer.rewrite.trace import Trace


def pass_record(declared: type[Pass]) -> dict[str, Any]:
    """What a person should know about a pass before switching it on."""
    text = declared.documentation()
    return {
        "id": declared.id,
        "title": declared.title(),
        "family": declared.family,
        "exactness": declared.exactness,
        "presets": list(declared.presets),
        "summary": _line(text.get("What it does", "")),
        "before": text.get("Before", ""),
        "after": text.get("After", ""),
        "safe": _line(text.get("When it is safe", "")),
        "numerics": _line(text.get("Numerics", "")),
        "source": _line(text.get("Source", "")),
        **_lacking(declared),
    }


def _lacking(declared: type[Pass]) -> dict[str, str]:
    """What is not installed that a pass needs, and the line that installs it."""
    missing = declared.missing()
    return {"missing": missing, "needs": declared.needs, "install": INSTALL} if missing else {}


def catalogue(enabled: Collection[str]) -> list[dict[str, Any]]:
    """Every registered pass, in running order, with whether it is switched on."""
    return [{**pass_record(p), "enabled": p.id in enabled} for p in passes()]


def pass_records(trace: Trace) -> list[dict[str, Any]]:
    """The catalogue with what each pass did in a trace."""
    declined = Counter(entry.pass_id for entry in trace.declined)
    failed = Counter(entry.pass_id for entry in trace.failed)
    fired = {identity: timing.rewrites for identity, timing in trace.timings.items()}
    places = {identity: place for place, identity in enumerate(fired)}
    return [
        {
            **entry,
            "fired": fired.get(entry["id"], 0),
            "declined": declined[entry["id"]],
            "failed": failed[entry["id"]],
            **_asked(entry["id"]),
            **({"place": places[entry["id"]]} if entry["id"] in places else {}),
        }
        for entry in catalogue(trace.timings.keys())
    ]


def _asked(pass_id: str) -> dict[str, Any]:
    """The operators that the rules of a pass are asked about, "*" for any; and whether at last."""
    declared = find(pass_id)
    assert declared is not None
    roots = sorted({root for rule in declared().rules() for root in rule.roots})
    return {"roots": roots, "last": declared.last}


def _line(text: str) -> str:
    """A paragraph on one line."""
    return " ".join(text.split())
