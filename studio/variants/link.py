"""What the Run page is set to, and how a link says it.

    section=timeline  race=source,last,runtime~intra_threads=2  seconds=20  set=device=cuda
    sweep=batch:1,2,4  as=deployed

Each variant is a graph and, after tildes, what it changes of the options that all share.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import starmap

from optimizer.registry import PRESETS, preset_named
from profiling.config.option import ConfigError, Value, setting_text
from profiling.config.question import ALL_AS, As
from profiling.config.settings import find_option, read_value
from studio.link import Settings, one_of, parameter, whole

SECTIONS = ("race", "timeline", "memory", "kernels", "generated", "capture")
SECONDS = 10
LEAST_SECONDS = 2
MOST_SECONDS = 120
MOST_VARIANTS = 6
SIZES = (1, 2, 4, 8)
MOST_SIZES = 12
LARGEST_SIZE = 65_536
SOURCE, LAST = "source", "last"

Options = tuple[tuple[str, Value], ...]
"""Options by name, only those that were changed."""

_GRAPH = re.compile("|".join((SOURCE, LAST, *PRESETS, "[0-9]{1,8}", "@[0-9a-f]{16}")))


def graph_of(plan: str) -> str:
    """The last step of a kept plan, as a variant names it."""
    return f"@{plan}"


def plan_of(graph: str) -> str:
    """The key of a kept plan that a variant names; empty where it names something else."""
    return graph[1:] if graph.startswith("@") else ""


@dataclass(frozen=True, slots=True)
class VariantChoice:
    """One variant as it was chosen.

    Attributes:
        graph: "source", "last", a preset's name or a kept plan's @key for the last step of that, or
            a step's number.
        options: what it changes of the options that all share.
    """

    graph: str = LAST
    options: Options = ()


@dataclass(frozen=True, slots=True)
class SweepChoice:
    """A dimension of the inputs, and the sizes to try."""

    dimension: str
    sizes: tuple[int, ...] = SIZES


DEFAULT = (VariantChoice(SOURCE), VariantChoice(LAST))


def _variants(text: str) -> tuple[VariantChoice, ...] | None:
    found = [one for one in map(_variant, text.split(",")) if one is not None]
    return tuple(found[:MOST_VARIANTS]) if len(found) > 1 else None


def _variants_text(variants: Iterable[VariantChoice]) -> str:
    return ",".join(map(_variant_text, variants))


def _common(text: str) -> Options:
    return _options(text.split(","))


def _settings_text(options: Options) -> str:
    return ",".join(starmap(setting_text, options))


def sizes_of(text: str) -> tuple[int, ...]:
    """Rising sizes from a text like "1, 2, 4"; what is none, or too large, is passed over."""
    found = {int(part) for part in re.findall(r"\b[0-9]{1,6}\b", text)}
    return tuple(sorted(size for size in found if 1 <= size <= LARGEST_SIZE))[:MOST_SIZES]


def _sweep_text(sweep: SweepChoice | None) -> str:
    return "" if sweep is None else f"{sweep.dimension}:{','.join(map(str, sweep.sizes))}"


def _sweep(text: str) -> SweepChoice | None:
    dimension, _, sizes = text.rpartition(":")
    return SweepChoice(dimension[:80], sizes_of(sizes) or SIZES) if dimension else None


def _variant_text(variant: VariantChoice) -> str:
    return "~".join([variant.graph, *starmap(setting_text, variant.options)])


def _variant(text: str) -> VariantChoice | None:
    name, *settings = text.split("~")
    graph = preset_named(name) or name
    return VariantChoice(graph, _options(settings)) if _GRAPH.fullmatch(graph) else None


def _options(settings: Iterable[str]) -> Options:
    """Those that exist and can have that value; whether they go together is seen at the form."""
    found: dict[str, Value] = {}
    for setting in settings:
        name, _, text = setting.partition("=")
        try:
            found[name] = read_value(find_option(name), text)
        except ConfigError:
            continue
    return tuple(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class RunChoice(Settings):
    """What the Run page is set to.

    Attributes:
        section: what is looked at.
        variants: the baseline first.
        seconds: of steady running, for all of them.
        options: run-time options of all that are set, whatever the question.
        sweep: what the race is repeated over; None for one size.
        asked: which questions are raced.
    """

    section: str = parameter("section", SECTIONS[0], one_of(SECTIONS))
    variants: tuple[VariantChoice, ...] = parameter("race", DEFAULT, _variants, _variants_text)
    seconds: int = parameter("seconds", SECONDS, whole(LEAST_SECONDS, MOST_SECONDS))
    options: Options = parameter("set", (), _common, _settings_text)
    sweep: SweepChoice | None = parameter("sweep", None, _sweep, _sweep_text)
    asked: As = parameter("as", "both", one_of(ALL_AS))

    @property
    def plans(self) -> frozenset[str]:
        """Keys of kept pipelines that variants name."""
        return frozenset(plan_of(variant.graph) for variant in self.variants)

    def for_another_trace(self) -> RunChoice:
        """The same for a trace that has other steps."""
        return self._with(one for one in self.variants if not one.graph.isdecimal())

    def for_another_model(self) -> RunChoice:
        """The same without steps, and without plans: they name nodes of one model."""
        plain = self.for_another_trace()
        return plain._with(one for one in plain.variants if not plan_of(one.graph))

    def _with(self, variants: Iterable[VariantChoice]) -> RunChoice:
        kept = tuple(variants)
        return replace(self, variants=kept if len(kept) > 1 else DEFAULT, sweep=None)


SETTINGS = RunChoice
