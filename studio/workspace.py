"""What one browser session is looking at, and its permalink.

The URL is the state: model, pipeline, step, what is compared, selection, open groups. A reload and
a second browser start from it and show the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import streamlit as st

from optimizer.pipeline import Pipeline
from optimizer.registry import PRESETS, find
from profiling.config.option import ConfigError, Value
from profiling.config.settings import from_settings
from studio.gallery import gallery

Before = Literal["source", "previous"]
RACE_SECONDS = 10
MOST_RACE_SECONDS = 120
_KEY = "workspace"
MAX_LISTED = 50
"""Selected nodes and open groups kept in a link."""


@dataclass(frozen=True, slots=True)
class View:
    """What the viewer shows; it changes in the browser and is told to us when it rests."""

    step: int | None = None
    before: Before = "source"
    select: tuple[str, ...] = ()
    open: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Veto:
    """A match that must not be applied.

    Attributes:
        match: the match id.
        rule: the rule that offered it, for people.
        root: id of the node it stands at, for people.
    """

    match: str
    rule: str = ""
    root: str = ""


@dataclass(frozen=True, slots=True)
class RaceChoice:
    """What the Run page is set to.

    Attributes:
        steps: before and after; None for source and last step.
        seconds: of steady running.
        options: run-time options that are not at their default, by name.
    """

    steps: tuple[int, int] | None = None
    seconds: int = RACE_SECONDS
    options: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class Workspace:
    """One session's state.

    Attributes:
        model: gallery id, or the store's key of an opened model.
        preset: the pipeline's preset.
        on: passes switched on beyond the preset.
        off: passes of the preset switched off.
        vetoed: matches that must not be applied.
        view: what the viewer shows.
        race: what the Run page is set to.
        record: id of the recording that is open on the History page.
        seq: raised whenever we, not the visitor, decide what the viewer shows.
    """

    model: str = gallery.SAMPLE
    preset: str = "default"
    on: frozenset[str] = frozenset()
    off: frozenset[str] = frozenset()
    vetoed: frozenset[Veto] = frozenset()
    view: View = field(default_factory=View)
    race: RaceChoice = field(default_factory=RaceChoice)
    record: int | None = None
    seq: int = 1

    def pipeline(self) -> Pipeline:
        """The pipeline chosen."""
        matches = [veto.match for veto in self.vetoed]
        return Pipeline.of(self.preset, enable=self.on, disable=self.off, vetoed=matches)

    def with_model(self, model: str) -> Workspace:
        """Another model, from its first step; vetoes belonged to the old one."""
        race = replace(self.race, steps=None)
        return replace(
            self, model=model, vetoed=frozenset(), view=View(), race=race, seq=self.seq + 1
        )

    def with_preset(self, preset: str) -> Workspace:
        """A preset, with no pass switched by hand."""
        return self._rewound(preset=preset, on=frozenset[str](), off=frozenset[str]())

    def with_pass(self, pass_id: str, *, enabled: bool) -> Workspace:
        """One pass switched on or off."""
        declared = find(pass_id)
        if declared is None:
            return self
        inside = self.preset in declared.presets
        on = self.on | {pass_id} if enabled and not inside else self.on - {pass_id}
        off = self.off | {pass_id} if not enabled and inside else self.off - {pass_id}
        return self._rewound(on=on, off=off)

    def with_veto(self, veto: Veto) -> Workspace:
        """One match vetoed."""
        return self._rewound(vetoed=self.without_veto(veto.match).vetoed | {veto})

    def without_veto(self, match: str) -> Workspace:
        """One match allowed again."""
        kept = frozenset(veto for veto in self.vetoed if veto.match != match)
        return self._rewound(vetoed=kept)

    def _rewound(self, **changes: Any) -> Workspace:
        """Another pipeline has other steps: show its last one."""
        view = replace(self.view, step=None)
        race = replace(self.race, steps=None)
        return replace(self, **changes, view=view, race=race, seq=self.seq + 1)


def current() -> Workspace:
    """This session's workspace; at first what the URL says."""
    if _KEY not in st.session_state:
        st.session_state[_KEY] = from_query(dict(st.query_params))
    return st.session_state[_KEY]


def remember(workspace: Workspace) -> None:
    """Make it this session's workspace, and the URL its permalink."""
    st.session_state[_KEY] = workspace
    query = to_query(workspace)
    if st.query_params.to_dict() != query:
        st.query_params.from_dict(query)


def to_query(workspace: Workspace) -> dict[str, str]:
    """The permalink's parameters; defaults are left out."""
    view, race = workspace.view, workspace.race
    query = {
        "model": workspace.model,
        "preset": workspace.preset if workspace.preset != "default" else "",
        "on": ",".join(sorted(workspace.on)),
        "off": ",".join(sorted(workspace.off)),
        "veto": ",".join(sorted(f"{v.match}.{v.rule}.{v.root}" for v in workspace.vetoed)),
        "step": str(view.step) if view.step is not None else "",
        "before": view.before if view.before != "source" else "",
        "select": ",".join(view.select[:MAX_LISTED]),
        "open": "|".join(view.open[:MAX_LISTED]) if view.open else "",
        "race": "{}-{}".format(*race.steps) if race.steps is not None else "",
        "seconds": str(race.seconds) if race.seconds != RACE_SECONDS else "",
        "set": ",".join(f"{name}={_setting(value)}" for name, value in race.options),
        "record": str(workspace.record) if workspace.record is not None else "",
    }
    return {name: text for name, text in query.items() if text}


def from_query(query: Mapping[str, str]) -> Workspace:
    """The workspace a link describes; what makes no sense in it is passed over."""
    groups = query.get("open", "")
    preset = query.get("preset", "default")
    return Workspace(
        model=query.get("model") or gallery.SAMPLE,
        preset=preset if preset in (*PRESETS, "none") else "default",
        on=_known_passes(query.get("on", "")),
        off=_known_passes(query.get("off", "")),
        vetoed=frozenset(map(_veto, _listed(query.get("veto", "")))),
        view=View(
            step=_number(query.get("step", "")),
            before="previous" if query.get("before") == "previous" else "source",
            select=tuple(_listed(query.get("select", "")))[:MAX_LISTED],
            open=tuple(groups.split("|"))[:MAX_LISTED] if groups else None,
        ),
        race=_race(query),
        record=_number(query.get("record", "")),
    )


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 9 else None


def _race(query: Mapping[str, str]) -> RaceChoice:
    steps = re.fullmatch(r"([0-9]{1,8})-([0-9]{1,8})", query.get("race", ""))
    seconds = re.fullmatch(r"[0-9]{1,3}", query.get("seconds", ""))
    try:
        options = from_settings(_listed(query.get("set", ""))).changed()
    except ConfigError:
        options = {}
    return RaceChoice(
        steps=(int(steps[1]), int(steps[2])) if steps else None,
        seconds=min(MOST_RACE_SECONDS, max(2, int(seconds[0]))) if seconds else RACE_SECONDS,
        options=tuple(sorted(options.items())),
    )


def _setting(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _listed(text: str) -> list[str]:
    return [part for part in text.split(",") if part]


def _veto(text: str) -> Veto:
    match, rule, root = (re.sub(r"[^\w~]", "", part) for part in (text + "..").split(".")[:3])
    return Veto(match, rule, root)


def _known_passes(text: str) -> frozenset[str]:
    return frozenset(part for part in _listed(text) if find(part) is not None)
