"""The checklist of each variant: what a capture needs, where it is not so, what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape

import streamlit as st

from optimizer.numbers import counted
from profiling.cuda.findings import RULES, CaptureCheck, CaptureFinding, Rule, Severity
from studio.capture.job import CheckedVariant
from studio.page.figure import Table, show_twin
from studio.page.parts import go_to, words
from studio.workspace import View, current, remember

_SHOWN = 6
"""Kinds of findings of one variant that are written out; the table has all."""

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
_MARKS: Mapping[Severity, tuple[str, str]] = {
    "blocks": ("no", "✕"),
    "follows": ("no", "✕"),
    "condition": ("if", "△"),
    "note": ("yes", "✓"),
}
"""How each is marked, the gravest first."""


def show_checks(variants: Sequence[CheckedVariant]) -> None:
    """The list for all variants, then each one's findings."""
    st.html(_STYLE + _list(variants))
    runtime = variants[0].check.runtime if variants else ""
    st.caption(
        words(
            f"Found out without a GPU, from the graph and the kernels of {runtime}. ✓ holds, "
            "△ holds if the remedy is kept to, ✕ stands in the way."
        )
    )
    for number, variant in enumerate(variants):
        _findings(variant, number)


def verdict(check: CaptureCheck) -> str:
    """The checklist in a few words; it counts the rows that are marked."""
    marks = [_MARKS[_worst(check, rule)][0] for rule in RULES]
    if "no" in marks:
        return f"cannot be captured: {marks.count('no')} of {len(RULES)} requirements not met"
    if "if" in marks:
        return "can be captured, on a condition"
    return "can be captured"


def _list(variants: Sequence[CheckedVariant]) -> str:
    head = "".join(f"<th>{escape(variant.label)}</th>" for variant in variants)
    rows = "".join(
        f"<tr><td>{escape(text)}</td>{''.join(_cell(e.check, rule) for e in variants)}</tr>"
        for rule, text in RULES.items()
    )
    last = "".join(f"<td><b>{escape(verdict(variant.check))}</b></td>" for variant in variants)
    return (
        f'<table class="capture-list"><tr><th>A capture needs</th>{head}</tr>{rows}'
        f"<tr><td><b>So this model</b></td>{last}</tr></table>"
    )


def _cell(check: CaptureCheck, rule: Rule) -> str:
    worst = _worst(check, rule)
    kind, mark = _MARKS[worst]
    findings = check.of(rule)
    marked = sum(_MARKS[finding.severity] == (kind, mark) for finding in findings)
    follow = sum(finding.severity == "follows" for finding in findings)
    text = {
        "blocks": f"{_places(marked)}{f', {follow} from a missing kernel' if follow else ''}",
        "follows": f"{_places(marked)}, from a missing kernel",
        "condition": f"{_places(marked)}, on a condition",
        "note": "yes",
    }[worst]
    return f'<td><span class="{kind}">{mark}</span> {text}</td>'


def _worst(check: CaptureCheck, rule: Rule) -> Severity:
    """The gravest finding about a requirement; a note where there is none."""
    found = {finding.severity for finding in check.of(rule)}
    for severity in _MARKS:
        if severity in found:
            return severity
    return "note"


def _places(count: int) -> str:
    return counted(count, "place")


def _findings(variant: CheckedVariant, number: int) -> None:
    findings = variant.check.findings
    if not findings:
        return
    st.html(f'<h3 class="capture">{escape(variant.label)}</h3>')
    groups = _grouped(findings)
    for place, group in enumerate(groups[:_SHOWN]):
        _group(variant, group, key=f"{number}-{place}")
    show_twin(
        f"All {counted(len(findings), 'finding')} of {words(variant.label)}", _table(findings)
    )


def _grouped(findings: Sequence[CaptureFinding]) -> list[list[CaptureFinding]]:
    """Findings of the same kind about the same operator together, blocking ones first."""
    groups: dict[tuple[str, str, str], list[CaptureFinding]] = {}
    for finding in findings:
        key = (finding.rule, finding.severity, finding.op_type)
        groups.setdefault(key, []).append(finding)
    order = list(_MARKS)
    return sorted(groups.values(), key=lambda group: order.index(group[0].severity))


def _group(variant: CheckedVariant, group: Sequence[CaptureFinding], *, key: str) -> None:
    first = group[0]
    others = f" and {_places(len(group) - 1).replace('place', 'other place')}" if group[1:] else ""
    what = f"{first.op_type} " if first.op_type else "Input " if first.rule == "shapes" else ""
    with st.container(horizontal=True, vertical_alignment="top", key=f"finding-{key}"):
        st.text(f"{_MARKS[first.severity][1] if first.remedy else '·'}")
        text = f"{what}'{first.place}'{others}. {first.reason} {first.remedy}".strip()
        st.text(text, width=760)
        leads = first.node and not variant.preset
        if leads and st.button("Look at it", key=f"look-{key}", type="tertiary"):
            workspace = current()
            view = View(step=variant.step, select=(first.node,))
            remember(replace(workspace, view=view, seq=workspace.seq + 1))
            go_to("rewrite")


def _table(findings: Sequence[CaptureFinding]) -> Table:
    return {
        "requirement": [RULES[finding.rule] for finding in findings],
        "": [_MARKS[finding.severity][1] for finding in findings],
        "place": [finding.place for finding in findings],
        "operator": [finding.op_type for finding in findings],
        "why": [finding.reason for finding in findings],
        "what to do": [finding.remedy for finding in findings],
    }
