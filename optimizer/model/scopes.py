"""Scopes of nodes: `/encoder/attention/MatMul` lies in `/encoder/attention`.

Exporters write them into node names, or (torch's dynamo exporter) into node metadata.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import cast

import onnx_ir as ir

_SCOPES = "pkg.torch.onnx.name_scopes"
MAX_WRITTEN = 4096


def scope_path(node: ir.Node) -> Sequence[str]:
    """The scopes around a node, outermost first."""
    written = node.metadata_props.get(_SCOPES)
    if written:
        return _from_metadata(written)
    name = node.name or ""
    if "/" not in name:
        return ()
    return [part for part in name.split("/")[:-1] if part]


def _from_metadata(written: str) -> Sequence[str]:
    """Torch writes every enclosing module path and last the node itself: cumulative, dotted."""
    if len(written) > MAX_WRITTEN:
        return ()
    try:
        scopes = ast.literal_eval(written)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ()
    if not isinstance(scopes, list):
        return ()
    parts: list[str] = []
    outer = ""
    for scope in map(str, cast("list[object]", scopes)[:-1]):
        if not scope or scope == outer:
            continue
        parts.append(scope.removeprefix(outer + ".") if outer else scope)
        outer = scope
    return parts
