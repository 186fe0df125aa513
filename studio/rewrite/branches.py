"""Pipelines that were tried over one model, as a tree: each change of the passes is a branch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from optimizer.errors import StudioError
from optimizer.numbers import counted
from optimizer.registry import find
from studio.artifacts.opened import OpenedModel
from studio.artifacts.store import run_key
from studio.opening import as_written_here
from studio.services import tasks
from studio.versus import Versus
from studio.workspace import Veto, Workspace

MOST = 40
_KEY = "rewrite-branches"
_MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class Branch:
    """A pipeline that was tried.

    Attributes:
        parent: place of the one that it was made from; None for the first.
        change: what was changed there, for people.
        chosen: the pipeline.
        vetoed: its vetoes.
    """

    parent: int | None
    change: str
    chosen: Versus
    vetoed: frozenset[Veto] = frozenset()


@dataclass(frozen=True, slots=True)
class Branches:
    """All of one model, in the order in which they were tried; a parent stands before its own."""

    model: str
    tried: tuple[Branch, ...]

    @staticmethod
    def of(workspace: Workspace) -> Branches:
        """The first one alone."""
        own = workspace.own_versus()
        return Branches(workspace.model, (Branch(None, own.name(), own, workspace.vetoed),))

    def place(self, chosen: Versus) -> int | None:
        """Where a pipeline stands; None for one that was not tried."""
        return next((i for i, one in enumerate(self.tried) if one.chosen == chosen), None)

    def grown(self, before: Workspace, after: Workspace) -> Branches:
        """With the pipeline after a change, unless it was tried already."""
        own = after.own_versus()
        if after.model != self.model:
            return Branches.of(after)
        if self.place(own) is not None or len(self.tried) >= MOST:
            return self
        parent = self.place(before.own_versus())
        change = own.name() if parent is None else what_changed(before.own_versus(), own)
        return replace(self, tried=(*self.tried, Branch(parent, change, own, after.vetoed)))

    def in_order(self) -> Iterator[tuple[int, int]]:
        """Places from the top of the tree, each followed by its own, with how deep it stands."""
        children: dict[int | None, list[int]] = {}
        for place, one in enumerate(self.tried):
            children.setdefault(one.parent, []).append(place)
        front = [(place, 0) for place in reversed(children.get(None, []))]
        while front:
            place, depth = front.pop()
            yield place, depth
            front += [(child, depth + 1) for child in reversed(children.get(place, []))]


def what_changed(before: Versus, after: Versus) -> str:
    """From one pipeline to another, for people: "− Fuse Pad into Conv, 1 veto"."""
    was, now = set(before.plain.ids), set(after.plain.ids)
    if before.preset != after.preset and not (after.on or after.off):
        texts = [f"preset {after.preset}"]
    else:
        texts = [_passes(_MINUS, was - now), _passes("+", now - was)]
    held, freed = after.vetoed - before.vetoed, before.vetoed - after.vetoed
    texts += [counted(len(held), "veto", "vetoes")] if held else []
    texts += [f"{counted(len(freed), 'veto', 'vetoes')} taken back"] if freed else []
    if after.plan != before.plan:
        texts.append("order or options" if after.plan else "usual order and options")
    return ", ".join(filter(None, texts)) or after.name()


def _passes(sign: str, ids: set[str]) -> str:
    """One by its name, several by their number."""
    titles = [declared.title() for one in ids if (declared := find(one)) is not None]
    if len(titles) == 1:
        return f"{sign} {titles[0]}"
    return f"{sign} {counted(len(titles), 'pass', 'passes')}" if titles else ""


def branches(workspace: Workspace) -> Branches:
    """This session's tree; a new one where there is none of the model."""
    known: Branches | None = st.session_state.get(_KEY)
    if known is None or known.model != workspace.model:
        known = st.session_state[_KEY] = Branches.of(workspace)
    elif known.place(workspace.own_versus()) is None:  # changed elsewhere, or by a link
        known = st.session_state[_KEY] = known.grown(workspace, workspace)
    return known


def remember_branch(before: Workspace, after: Workspace) -> None:
    """Keep what the passes are after a change."""
    st.session_state[_KEY] = branches(before).grown(before, after)


def gone_to(workspace: Workspace, place: object) -> Workspace:
    """The pipeline at a place of the tree."""
    tried = branches(workspace).tried
    if not isinstance(place, int) or not 0 <= place < len(tried):
        return workspace
    return workspace.choosing(tried[place].chosen, tried[place].vetoed)


def branch_records(workspace: Workspace, model: OpenedModel | None) -> list[dict[str, Any]]:
    """The tree as the viewer gets it, from the top."""
    tree = branches(workspace)
    here = tree.place(workspace.own_versus())
    return [
        {
            "place": place,
            "depth": depth,
            "change": (one := tree.tried[place]).change,
            "nodes": None if model is None else _nodes(one.chosen, model),
            "here": place == here,
            "versus": one.chosen.to_link(),
        }
        for place, depth in tree.in_order()
    ]


def _nodes(chosen: Versus, model: OpenedModel) -> int | None:
    """How many nodes its run left; None as long as nobody knows."""
    try:
        key = run_key(as_written_here(chosen.pipeline()))
    except StudioError:
        return None
    task = tasks().get(("run", model.key, key))
    return None if task is None or task.result is None else task.result.result.nodes[1]
