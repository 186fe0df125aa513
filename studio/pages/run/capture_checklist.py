"""The checklist of each entrant: what a capture needs, where it is not so, what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

import streamlit as st

from profiling.cuda.findings import RULES, CaptureCheck, CaptureFinding, Rule
from studio.experiments.capture_check import CheckedEntrant
from studio.pages.figure import Table, show_twin
from studio.pages.parts import go_to, words
from studio.workspace import View, current, remember

_SHOWN = 6
"""Kinds of findings of one entrant that are written out; the table has all."""

_STYLE = """<style>
.capture-list { border-collapse: collapse; font-size: 13px; max-width: 920px; width: 100%; }
.capture-list th, .capture-list td { text-align: left; padding: 5px 14px 5px 0;
  border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
.capture-list th { font-weight: 600; }
.capture-list .no { color: var(--bad); } .capture-list .if { color: var(--warn); }
.capture-list .yes { color: var(--good); }
[class*="st-key-finding-"] [data-testid="stText"] { font-size: 13px; font-family: inherit;
  white-space: pre-wrap; overflow-wrap: anywhere; }
h3.capture { font-size: 15px; margin: 6px 0 2px; padding: 0; }
</style>"""
_MARKS = {
    "blocks": ("no", "✕"),
    "follows": ("no", "✕"),
    "condition": ("if", "△"),
    "note": ("yes", "✓"),
}


def show_checks(entrants: Sequence[CheckedEntrant]) -> None:
    """The list for all entrants, then each one's findings."""
    st.html(_STYLE + _list(entrants))
    runtime = entrants[0].check.runtime if entrants else ""
    st.caption(
        words(
            f"Found out without a GPU, from the graph and the kernels of {runtime}. ✓ holds, "
            "△ holds if the remedy is kept to, ✕ stands in the way."
        )
    )
    for number, entrant in enumerate(entrants):
        _findings(entrant, number)


def verdict(check: CaptureCheck) -> str:
    """The checklist in a few words."""
    rules = {finding.rule for finding in check.findings if finding.severity == "blocks"}
    if rules:
        return f"cannot be captured: {len(rules)} of {len(RULES)} requirements not met"
    if any(finding.severity == "condition" for finding in check.findings):
        return "can be captured, on a condition"
    return "can be captured"


def _list(entrants: Sequence[CheckedEntrant]) -> str:
    head = "".join(f"<th>{escape(entrant.label)}</th>" for entrant in entrants)
    rows = "".join(
        f"<tr><td>{escape(text)}</td>{''.join(_cell(e.check, rule) for e in entrants)}</tr>"
        for rule, text in RULES.items()
    )
    last = "".join(f"<td><b>{escape(verdict(entrant.check))}</b></td>" for entrant in entrants)
    return (
        f'<table class="capture-list"><tr><th>A capture needs</th>{head}</tr>{rows}'
        f"<tr><td><b>So this model</b></td>{last}</tr></table>"
    )


def _cell(check: CaptureCheck, rule: Rule) -> str:
    found = check.of(rule)
    severities = [finding.severity for finding in found]
    worst = next((s for s in ("blocks", "follows", "condition") if s in severities), "note")
    kind, mark = _MARKS[worst]
    count = severities.count(worst) if worst != "note" else 0
    text = {
        "blocks": _places(count),
        "follows": f"{_places(count)}, from a missing kernel",
        "condition": f"{_places(count)}, on a condition",
    }.get(worst, "yes")
    return f'<td><span class="{kind}">{mark}</span> {text}</td>'


def _places(count: int) -> str:
    return "1 place" if count == 1 else f"{count:,} places"


def _findings(entrant: CheckedEntrant, number: int) -> None:
    findings = entrant.check.findings
    if not findings:
        return
    st.html(f'<h3 class="capture">{escape(entrant.label)}</h3>')
    groups = _grouped(findings)
    for place, group in enumerate(groups[:_SHOWN]):
        _group(entrant, group, key=f"{number}-{place}")
    show_twin(f"All {len(findings):,} findings of {words(entrant.label)}", _table(findings))


def _grouped(findings: Sequence[CaptureFinding]) -> list[list[CaptureFinding]]:
    """Findings of the same kind about the same operator together, blocking ones first."""
    groups: dict[tuple[str, str, str], list[CaptureFinding]] = {}
    for finding in findings:
        key = (finding.rule, finding.severity, finding.op_type)
        groups.setdefault(key, []).append(finding)
    order = list(_MARKS)
    return sorted(groups.values(), key=lambda group: order.index(group[0].severity))


def _group(entrant: CheckedEntrant, group: Sequence[CaptureFinding], *, key: str) -> None:
    first = group[0]
    others = f" and {_places(len(group) - 1).replace('place', 'other place')}" if group[1:] else ""
    what = f"{first.op_type} " if first.op_type else "Input " if first.rule == "shapes" else ""
    with st.container(horizontal=True, vertical_alignment="top", key=f"finding-{key}"):
        st.text(f"{_MARKS[first.severity][1] if first.remedy else '·'}")
        text = f"{what}'{first.place}'{others}. {first.reason} {first.remedy}".strip()
        st.text(text, width=760)
        if first.node and not entrant.preset:
            st.button(
                "Look at it",
                key=f"look-{key}",
                type="tertiary",
                on_click=_select,
                args=(entrant.step, first.node),
            )
    if st.session_state.pop("capture-look", False):
        go_to("rewrite")


def _select(step: int, node: str) -> None:
    """Show the node in the viewer."""
    workspace = current()
    view = View(step=step, select=(node,))
    remember(replace(workspace, view=view, seq=workspace.seq + 1))
    st.session_state["capture-look"] = True


def _table(findings: Sequence[CaptureFinding]) -> Table:
    return {
        "requirement": [RULES[finding.rule] for finding in findings],
        "": [_MARKS[finding.severity][1] for finding in findings],
        "place": [finding.place for finding in findings],
        "operator": [finding.op_type for finding in findings],
        "why": [finding.reason for finding in findings],
        "what to do": [finding.remedy for finding in findings],
    }
