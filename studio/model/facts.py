"""What a model is, as one dense column: HTML in which every text of the model is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from optimizer.findings import Finding, Status, Statuses
from optimizer.numbers import FLOP_MEANS, amount_text, bytes_text, counted
from studio.graphview.categories import category
from studio.graphview.summary import ModelSummary, Port
from studio.page.findings import by_kind

USES = {
    "viewable": ("Can be drawn", "Cannot be drawn"),
    "optimizable": ("Can be optimized", "Cannot be optimized"),
    "runnable": ("Can be run", "Cannot be run"),
}
SHOWN_OPERATORS = 16
SHOWN_PORTS = 24
SHOWN_KINDS = 24


def facts_html(summary: ModelSummary) -> str:
    """The column.

    Args:
        summary: of the model.
    """
    parts = [
        f"<h2>{_text(summary.name)}</h2>",
        _statuses(summary.statuses),
        _figures(summary),
        _operators(summary.operators),
        _ports("Inputs", summary.inputs),
        _ports("Outputs", summary.outputs),
        _findings(summary.findings, summary.findings_left_out),
    ]
    return f'<div class="facts">{"".join(parts)}</div>'


def _text(text: object) -> str:
    return escape("".join(c if c.isprintable() else " " for c in str(text)))


def _statuses(statuses: Statuses) -> str:
    lines: list[str] = []
    for use, (can, cannot) in USES.items():
        status: Status = getattr(statuses, use)
        kind, mark, words = ("ok", "✓", can) if status.ok else ("no", "✗", cannot)
        why = f"<br><small>{_text(status.reason)}</small>" if status.reason else ""
        lines.append(f'<li class="{kind}"><b>{mark}</b><span>{words}{why}</span></li>')
    return f'<h3>Status</h3><ul class="status">{"".join(lines)}</ul>'


def _figures(summary: ModelSummary) -> str:
    constants = summary.constant_nodes
    rows = {
        "Nodes": f"{summary.nodes:,}"
        + (f" and {counted(constants, 'constant')}" if constants else ""),
        "Parameters": amount_text(summary.parameters),
        "Weights": bytes_text(summary.weight_bytes),
        "Work a run": f"{amount_text(summary.cost.flops, 'FLOP')}; {FLOP_MEANS}",
        "Opset": ", ".join(f"{d} {v}" for d, v in summary.opsets.items()),
        "Producer": summary.producer or "unknown",
    }
    return "<h3>Size</h3><dl>" + _pairs(rows.items()) + "</dl>"


def _pairs(rows: Iterable[tuple[str, str]]) -> str:
    return "".join(f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in rows)


def _operators(counts: Mapping[str, int]) -> str:
    """Bars in the colours of the drawing, most frequent operator on top."""
    items = list(counts.items())
    rest = items[SHOWN_OPERATORS:]
    most = max(counts.values(), default=1)
    rows = [
        f'<span title="{_text(name)}">{_text(name.rpartition("::")[2])}</span>'
        f'<i style="--part:{count / most:.4f};--of:var(--{category(name.rpartition("::")[2])})">'
        f"{count:,}</i>"
        for name, count in items[:SHOWN_OPERATORS]
    ]
    left = counted(sum(count for _, count in rest), "node")
    more = f"<small>and {left} of {counted(len(rest), 'more kind')}</small>"
    title = f"<h3>Operators <b>{counted(len(items), 'kind')}</b></h3>"
    return f'{title}<div class="bars">{"".join(rows)}</div>{more if rest else ""}'


def _ports(title: str, ports: Sequence[Port]) -> str:
    lines = [
        f"<li><code>{_text(port.name)}</code> <small>{_text(port.dtype)} "
        f"{_text(port.shape)}</small></li>"
        for port in ports[:SHOWN_PORTS]
    ]
    if len(ports) > SHOWN_PORTS:
        lines.append(f"<li><small>and {len(ports) - SHOWN_PORTS} more</small></li>")
    return f"<h3>{title} <b>{len(ports)}</b></h3><ul>{''.join(lines)}</ul>"


def _findings(findings: Sequence[Finding], left_out: int) -> str:
    kinds = by_kind(findings)
    shown = kinds[:SHOWN_KINDS]
    more = len(findings) + left_out - sum(len(kind.places) for kind in shown)
    lines = [
        f'<li class="{_text(kind.severity)}"><b>{_text(kind.severity)}</b> '
        f"{_text(kind.where())}{': ' if kind.where() else ''}{_text(kind.message)} "
        f"<small>{_text(kind.remedy)}</small></li>"
        for kind in shown
    ]
    if more:
        lines.append(f"<li><small>and {more} more</small></li>")
    body = "".join(lines) or "<li><small>Nothing to remark.</small></li>"
    return f"<h3>Findings <b>{len(findings) + left_out}</b></h3><ul>{body}</ul>"
