"""Model: choose a network, see its graph, read what is in it."""

from __future__ import annotations

from typing import Any, cast

import streamlit as st

from studio.commands.output import bytes_text, count_text
from studio.figures.operators import operator_bars
from studio.gallery import gallery
from studio.gallery.table import GalleryModel
from studio.graphview.text import TIMES
from studio.opening import model_task, path_task, upload_task
from studio.pages.parts import PATIENCE_S, follow, show_error, show_message, words
from studio.store import OpenedModel
from studio.tasks import Task
from studio.viewer import passlens_viewer
from studio.viewing import model_descriptor
from studio.workspace import current, remember

STATUSES = {"viewable": "can be shown", "optimizable": "can be optimized", "runnable": "can be run"}


def render() -> None:
    """The page."""
    with st.sidebar:
        _choose()
    workspace = current()
    task = model_task(workspace)
    if not task.wait(PATIENCE_S):
        follow(cast("Task[object]", task), f"Opening {workspace.model}")
        return
    if task.error is not None:
        show_error(task.error)
        return
    assert task.result is not None
    remember(workspace)
    picture, facts = st.columns([0.74, 0.26], gap="small")
    with picture:
        passlens_viewer(model_descriptor(workspace, task.result), key="model-viewer")
    with facts, st.container(height="stretch", border=False):
        _facts(task.result)


def _choose() -> None:
    """Sample networks, an upload, a path."""
    st.subheader("Open a model", anchor=False)
    files = st.file_uploader(
        "ONNX file, with its data files if it has any",
        accept_multiple_files=True,
        key="upload",
    )
    if files:
        _adopt(upload_task({file.name: file.getvalue() for file in files}), "upload")
    path = st.text_input("or a path on this machine", placeholder="/models/network.onnx")
    if path:
        _adopt(path_task(path.strip()), "path")
    st.subheader("Sample networks", anchor=False)
    for entry in gallery.entries():
        _card(entry)


def _card(entry: GalleryModel) -> None:
    chosen = current().model == entry.id
    with st.container(border=True, gap=None):
        if st.button(
            entry.title,
            key=f"gallery-{entry.id}",
            type="primary" if chosen else "secondary",
            width="stretch",
        ):
            remember(current().with_model(entry.id))
            st.rerun()
        st.caption(f"{entry.nodes} nodes. {entry.story}")


def _adopt(task: Task[OpenedModel], source: str) -> None:
    """Make a newly opened model the session's; a failure leaves the earlier one open."""
    if not task.wait(PATIENCE_S):
        follow(cast("Task[object]", task), "Opening")
    elif task.error is not None:
        show_error(task.error)
    elif task.result is not None and st.session_state.get(f"adopted-{source}") != task.result.key:
        st.session_state[f"adopted-{source}"] = task.result.key
        remember(current().with_model(task.result.key))
        st.rerun()


def _facts(model: OpenedModel) -> None:
    summary = model.summary
    st.subheader(words(summary["name"]), anchor=False)
    for name, label in STATUSES.items():
        status = summary["statuses"][name]
        if not status["ok"]:
            show_message(f"It {label.replace('can', 'cannot')}: {status['reason']}")
    st.dataframe(_figures(summary), hide_index=True, width="stretch")
    st.plotly_chart(
        operator_bars(summary["operators"]), width="stretch", config={"displayModeBar": False}
    )
    _interface("Inputs", summary["inputs"])
    _interface("Outputs", summary["outputs"])
    _findings(summary)


def _figures(summary: dict[str, Any]) -> dict[str, list[str]]:
    cost = summary["cost"]
    rows = {
        "Nodes": f"{summary['nodes']:,}",
        "Constants": f"{summary['constant_nodes']:,}",
        "Parameters": count_text(summary["parameters"]),
        "Weights": bytes_text(summary["weight_bytes"]),
        "Work a run": f"{count_text(cost['flops'])} FLOP",
        "Opset": ", ".join(f"{d} {v}" for d, v in summary["opsets"].items()),
        "Producer": summary["producer"] or "unknown",
    }
    return {"": list(rows), " ": list(rows.values())}


def _interface(title: str, ports: list[dict[str, str]]) -> None:
    st.caption(title)
    columns = {"name": "name", "type": "dtype", f"shape (a{TIMES}b)": "shape"}
    st.dataframe(
        {label: [port[field] for port in ports] for label, field in columns.items()},
        hide_index=True,
        width="stretch",
    )


def _findings(summary: dict[str, Any]) -> None:
    findings = summary["findings"]
    st.caption(f"Findings ({len(findings) + summary['findings_left_out']})")
    if not findings:
        st.text("Nothing to remark.")
        return
    columns = ("severity", "where", "message", "remedy")
    st.dataframe(
        {name: [finding[name] for finding in findings] for name in columns},
        hide_index=True,
        width="stretch",
    )
