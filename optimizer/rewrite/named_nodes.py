"""Nodes by what people call them: a node's name, the name of an output, or its id."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

import onnx_ir as ir

from optimizer.errors import StudioError, quoted
from optimizer.rewrite.graph_state import GraphState

MOST_SUGGESTED = 3


def node_called(state: GraphState, text: str) -> str:
    """The id of the node that is called so; nodes of the source come before those made later.

    Raises:
        StudioError: there is none, or several of one name; says what there is instead.
    """
    if text in state.nodes:
        return text
    of_source = {i: node for i, node in state.nodes.items() if "~" not in i}
    made = {i: node for i, node in state.nodes.items() if "~" in i}
    for nodes in (of_source, made):
        for naming in (_by_name(nodes), _by_output(nodes)):
            found = naming.get(text, [])
            if len(found) > 1:
                ids = ", ".join(found[:MOST_SUGGESTED])
                raise StudioError(
                    f"{len(found)} nodes are called {quoted(text)}; name one by its id: {ids}."
                )
            if found:
                return found[0]
    raise StudioError(_unknown(state, text))


def _by_name(nodes: Mapping[str, ir.Node]) -> dict[str, list[str]]:
    return _listed((node.name, identity) for identity, node in nodes.items())


def _by_output(nodes: Mapping[str, ir.Node]) -> dict[str, list[str]]:
    return _listed((v.name, identity) for identity, node in nodes.items() for v in node.outputs)


def _listed(pairs: Iterable[tuple[str | None, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, identity in pairs:
        if name:
            found.setdefault(name, []).append(identity)
    return found


def _unknown(state: GraphState, text: str) -> str:
    """What to say of a name that no node has."""
    value = next((v for v in state.values.values() if v.name == text), None)
    if value is not None:
        kind = "an input of the graph" if value.const_value is None else "an initializer"
        reader = next((use.node.name for use in value.uses() if use.node.name), None)
        more = f"; node {quoted(reader)} reads it" if reader else ""
        return f"{quoted(text)} is {kind}, no node{more}."
    names = [*_by_name(state.nodes), *_by_output(state.nodes)]
    near = [name for name in names if text and text.lower() in name.lower()]
    near = near or difflib.get_close_matches(text, names, n=MOST_SUGGESTED)
    listed = ", ".join(quoted(name) for name in dict.fromkeys(near[:MOST_SUGGESTED]))
    hint = f"did you mean {listed}?" if near else "passlens studio shows the names of all nodes."
    return f"There is no node {quoted(text)}; {hint}"
