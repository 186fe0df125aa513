"""Which passes are on: a preset, what is switched by hand, a plan; and how a link says it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from optimizer.numbers import counted
from optimizer.pipeline import Pipeline
from optimizer.registry import find, preset_named
from studio.artifacts.plans import kept_plan


@dataclass(frozen=True, slots=True)
class Versus:
    """Another pipeline whose result is shown beside the workspace's own.

    Attributes:
        preset: the pipeline's preset.
        on: passes switched on beyond the preset.
        off: passes of the preset switched off.
        plan: key of a kept pipeline, of which the passes that are on have options and places.
        vetoed: matches that must not be applied.
    """

    preset: str
    on: frozenset[str] = frozenset()
    off: frozenset[str] = frozenset()
    plan: str = ""
    vetoed: frozenset[str] = frozenset()

    @property
    def plain(self) -> Pipeline:
        """The passes that are on, without a plan's options."""
        return Pipeline.of(self.preset, enable=self.on, disable=self.off)

    def pipeline(self) -> Pipeline:
        """The other pipeline.

        Raises:
            StudioError: its plan is not here any more.
        """
        plain = self.plain
        chosen = plain.configured(kept_plan(self.plan).pipeline) if self.plan else plain
        return replace(chosen, vetoed=self.vetoed)

    def name(self) -> str:
        """The preset, and what is changed by hand: "portable, −2 passes, 1 veto"; or the plan."""
        changes = [(len(self.on), "+"), (len(self.off), "\N{MINUS SIGN}")]
        texts = [f"{sign}{n} {'pass' if n == 1 else 'passes'}" for n, sign in changes if n]
        vetoes = [counted(len(self.vetoed), "veto", "vetoes")] if self.vetoed else []
        return ", ".join([self.preset, *texts, *(["as planned"] if self.plan else []), *vetoes])

    def to_link(self) -> str:
        """For the permalink: `cpu`, or `portable,-fold-constants`."""
        on, off = sorted(self.on), sorted(self.off)
        plan = [f"@{self.plan}"] if self.plan else []
        changes = [*(f"~{p}" for p in on), *(f"-{p}" for p in off), *plan]
        return ",".join([self.preset, *changes, *(f"!{match}" for match in sorted(self.vetoed))])

    @classmethod
    def from_link(cls, text: str) -> Versus | None:
        """What a link says; None where it names no preset."""
        name, *changes = text.split(",")
        preset = preset_named(name)
        if preset is None:
            return None
        on = frozenset(c[1:] for c in changes if c[:1] == "~" and find(c[1:]) is not None)
        off = frozenset(c[1:] for c in changes if c[:1] == "-" and find(c[1:]) is not None)
        plan = next((plan_key(c[1:]) for c in changes if c[:1] == "@"), "")
        vetoed = frozenset(m for c in changes if c[:1] == "!" and (m := re.sub(r"\W", "", c)))
        return cls(preset, on, off, plan, vetoed)


def plan_key(text: str) -> str:
    """Of a link's text what can be a key."""
    return re.sub("[^0-9a-f]", "", text)[:16]
