"""What one browser session is looking at, and its permalink.

The URL is the state: model, pipeline, step, what is compared, selection, open groups. A reload and
a second browser start from it and show the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from optimizer.errors import StudioError
from optimizer.pipeline import Pipeline
from optimizer.registry import PORTABLE, find, preset_named
from studio.artifacts.plans import keep_plan, kept_plan
from studio.gallery import gallery
from studio.link import Settings, all_settings, from_link, to_link
from studio.recordings.shipped import place_of
from studio.versus import Versus, plan_key

Before = Literal["source", "previous"]
Kind = TypeVar("Kind", bound=Settings)
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
class Workspace:
    """One session's state.

    Attributes:
        model: gallery id, or the store's key of an opened model.
        preset: the pipeline's preset.
        on: passes switched on beyond the preset.
        off: passes of the preset switched off.
        plan: key of a kept pipeline, of which the passes that are on have options and places.
        vetoed: matches that must not be applied.
        versus: the pipeline whose result is shown beside this one's.
        view: what the viewer shows.
        settings: of features, those that are not as they are at first.
        record: id of the recording that is open on the History page.
        recorded: one that comes with Passlens, or a bundle of them, open there instead.
        seq: raised whenever we, not the visitor, decide what the viewer shows.
    """

    model: str = gallery.SAMPLE
    preset: str = PORTABLE
    on: frozenset[str] = frozenset()
    off: frozenset[str] = frozenset()
    plan: str = ""
    vetoed: frozenset[Veto] = frozenset()
    versus: Versus | None = None
    view: View = field(default_factory=View)
    settings: tuple[Settings, ...] = ()
    record: int | None = None
    recorded: str = ""
    seq: int = 1

    def pipeline(self) -> Pipeline:
        """The pipeline chosen.

        Raises:
            StudioError: its plan is not here any more.
        """
        return self.own_versus().pipeline()

    def own_versus(self) -> Versus:
        """The passes as they are now, to be compared with."""
        matches = frozenset(veto.match for veto in self.vetoed)
        return Versus(self.preset, self.on, self.off, self.plan, matches)

    def choosing(self, chosen: Versus, vetoed: Iterable[Veto]) -> Workspace:
        """The passes of another pipeline; of its vetoes more may be known than their matches."""
        known = {veto.match: veto for veto in vetoed}
        vetoes = frozenset(known.get(match) or Veto(match) for match in chosen.vetoed)
        about = {"preset": chosen.preset, "on": chosen.on, "off": chosen.off, "plan": chosen.plan}
        return self._rewound(**about, vetoed=vetoes)

    @property
    def plans(self) -> frozenset[str]:
        """Keys of the kept pipelines that it needs."""
        named = [self.plan, "" if self.versus is None else self.versus.plan]
        return frozenset(named).union(*(one.plans for one in self.settings)) - {""}

    def with_model(self, model: str) -> Workspace:
        """Another model, from its first step; vetoes belonged to the old one."""
        return replace(
            self,
            model=model,
            plan="",
            vetoed=frozenset(),
            versus=None,
            view=View(),
            settings=_differing(one.for_another_model() for one in self.settings),
            seq=self.seq + 1,
        )

    def of(self, kind: type[Kind]) -> Kind:
        """What a feature is set to."""
        return next((one for one in self.settings if isinstance(one, kind)), None) or kind()

    def having(self, settings: Settings) -> Workspace:
        """One feature set to something else."""
        others = (one for one in self.settings if type(one) is not type(settings))
        return replace(self, settings=_differing([*others, settings]))

    def looking_at(self, view: View) -> Workspace:
        """Another view; what a feature is set to about the graph of a step ends with the step."""
        settings = self.settings
        if view.step != self.view.step:
            settings = _differing(one.for_another_step() for one in settings)
        return replace(self, view=view, settings=settings)

    def showing(self, *, record: int | None = None, recorded: str = "") -> Workspace:
        """Another recording on the History page, one's own or one that comes along, or none."""
        return replace(self, record=record, recorded=recorded)

    def with_preset(self, preset: str) -> Workspace:
        """A preset, with no pass switched by hand."""
        return self._rewound(preset=preset, on=frozenset[str](), off=frozenset[str](), plan="")

    def with_plan(self, key: str) -> Workspace:
        """The passes of a kept pipeline, as it has them.

        Raises:
            StudioError: there is none of that key.
        """
        plan = kept_plan(key).pipeline
        plain, wanted = frozenset(Pipeline.of(PORTABLE).ids), frozenset(plan.ids)
        about = {"preset": PORTABLE, "on": wanted - plain, "off": plain - wanted}
        return self._rewound(**about, plan=key, vetoed=frozenset[Veto](), versus=None)

    def with_pass(self, pass_id: str, *, enabled: bool) -> Workspace:
        """One pass switched on or off."""
        declared = find(pass_id)
        if declared is None:
            return self
        inside = self.preset in declared.presets
        on = self.on | {pass_id} if enabled and not inside else self.on - {pass_id}
        off = self.off | {pass_id} if not enabled and inside else self.off - {pass_id}
        return self._rewound(on=on, off=off)

    def running_order(self) -> tuple[str, ...]:
        """Ids of the passes that are on; without the plan's order where that is gone."""
        try:
            return self.pipeline().ids
        except StudioError:
            return self.own_versus().plain.ids

    def with_order(self, ids: Sequence[str]) -> Workspace:
        """The passes that are on in this order; those that are not named come last.

        Raises:
            StudioError: the plan is not here any more.
        """
        chosen = replace(self.pipeline(), vetoed=frozenset[str]())
        places = {one: place for place, one in enumerate(dict.fromkeys(ids))}
        ordered = sorted(chosen.passes, key=lambda one: places.get(one.id, len(places)))
        chosen = replace(chosen, passes=tuple(ordered))
        is_plain = chosen == self.own_versus().plain
        return self._rewound(plan="" if is_plain else keep_plan(chosen, title="another order"))

    def with_veto(self, veto: Veto, *, step: int | None) -> Workspace:
        """One match vetoed at a step, which is still looked at."""
        others = frozenset(v for v in self.vetoed if v.match != veto.match)
        return self._revised(others | {veto}, step)

    def without_veto(self, match: str, *, step: int | None) -> Workspace:
        """One match allowed again, while a step is looked at."""
        return self._revised(frozenset(v for v in self.vetoed if v.match != match), step)

    def _revised(self, vetoed: frozenset[Veto], step: int | None) -> Workspace:
        """Other vetoes; the viewer knows by itself where it stands, so nothing is imposed on it."""
        rewound = self._rewound(vetoed=vetoed)
        return replace(rewound, view=replace(self.view, step=step), seq=self.seq)

    def _rewound(self, **changes: Any) -> Workspace:
        """Another pipeline has other steps: its last, until the viewer tells where it stands."""
        view = replace(self.view, step=None)
        settings = _differing(one.for_another_trace() for one in self.settings)
        return replace(self, **changes, view=view, settings=settings, seq=self.seq + 1)


def _differing(settings: Iterable[Settings]) -> tuple[Settings, ...]:
    """Those that are not as they are at first, in a fixed order."""
    changed = (one for one in settings if one != type(one)())
    return tuple(sorted(changed, key=lambda one: type(one).__name__))


def current() -> Workspace:
    """This session's workspace; what the URL says at first, and when the visitor went back.

    Back is to the model of then, and from a plan to the passes before it. Otherwise the session
    stays: what was switched by hand since then, and the step.
    """
    known: Workspace | None = st.session_state.get(_KEY)
    if known is None:
        known = st.session_state[_KEY] = from_query(dict(st.query_params))
    elif "model" in st.query_params and went_back():
        asked = from_query(dict(st.query_params))
        if (asked.model, asked.plan) != (known.model, known.plan):
            known = st.session_state[_KEY] = replace(asked, seq=known.seq + 1)
    return known


def went_back() -> bool:
    """Whether the browser's history brought the URL: then it is right, and the session is not."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and context.is_history_navigation


def remember(workspace: Workspace) -> None:
    """Make it this session's workspace, and the URL its permalink."""
    remember_elsewhere(workspace)
    query = to_query(workspace)
    if st.query_params.to_dict() != query:
        st.query_params.from_dict(query)


def remember_elsewhere(workspace: Workspace) -> None:
    """Make it this session's workspace for the page that is gone to next.

    The permalink of this page stays, so that back leads to what was there.
    """
    st.session_state[_KEY] = workspace


def to_query(workspace: Workspace) -> dict[str, str]:
    """The permalink's parameters; defaults are left out."""
    view = workspace.view
    query = {
        "model": workspace.model,
        "preset": workspace.preset if workspace.preset != PORTABLE else "",
        "on": ",".join(sorted(workspace.on)),
        "off": ",".join(sorted(workspace.off)),
        "plan": workspace.plan,
        "veto": ",".join(sorted(f"{v.match}.{v.rule}.{v.root}" for v in workspace.vetoed)),
        "versus": workspace.versus.to_link() if workspace.versus is not None else "",
        "step": str(view.step) if view.step is not None else "",
        "before": view.before if view.before != "source" else "",
        "select": ",".join(view.select[:MAX_LISTED]),
        "open": "|".join(view.open[:MAX_LISTED]) if view.open else "",
        **dict(item for one in workspace.settings for item in to_link(one).items()),
        "record": str(workspace.record) if workspace.record is not None else "",
        "recorded": workspace.recorded,
    }
    return {name: text for name, text in query.items() if text}


def from_query(query: Mapping[str, str]) -> Workspace:
    """The workspace a link describes; what makes no sense in it is passed over."""
    groups = query.get("open", "")
    return Workspace(
        model=query.get("model") or gallery.SAMPLE,
        preset=preset_named(query.get("preset", "")) or PORTABLE,
        on=_known_passes(query.get("on", "")),
        off=_known_passes(query.get("off", "")),
        plan=plan_key(query.get("plan", "")),
        vetoed=frozenset(map(_veto, _listed(query.get("veto", "")))),
        versus=Versus.from_link(query.get("versus", "")),
        view=View(
            step=_number(query.get("step", "")),
            before="previous" if query.get("before") == "previous" else "source",
            select=tuple(_listed(query.get("select", "")))[:MAX_LISTED],
            open=tuple(groups.split("|"))[:MAX_LISTED] if groups else None,
        ),
        settings=_differing(from_link(kind, query) for kind in all_settings()),
        record=_number(query.get("record", "")),
        recorded=recorded if place_of(recorded := query.get("recorded", "")) else "",
    )


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 9 else None


def _listed(text: str) -> list[str]:
    return [part for part in text.split(",") if part]


def _veto(text: str) -> Veto:
    match, rule, root = (re.sub(r"[^\w~]", "", part) for part in (text + "..").split(".")[:3])
    return Veto(match, rule, root)


def _known_passes(text: str) -> frozenset[str]:
    return frozenset(part for part in _listed(text) if find(part) is not None)
