"""A pipeline is data: which passes, with which options, which matches are vetoed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any, cast

from optimizer.errors import StudioError, quoted
from optimizer.registry import NO_PRESET, PORTABLE, PRESETS, Pass, find, passes, preset_named


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The passes of one run, in running order.

    Attributes:
        passes: configured passes.
        preset: the preset it started from, "none" for an empty one.
        vetoed: ids of matches that must not be applied.
        places: pass id -> ids of the nodes it is asked about; everywhere where it is not named.
    """

    passes: tuple[Pass, ...] = ()
    preset: str = NO_PRESET
    vetoed: frozenset[str] = field(default_factory=frozenset[str])
    places: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    @staticmethod
    def of(
        preset: str = PORTABLE,
        *,
        enable: Iterable[str] = (),
        disable: Iterable[str] = (),
        vetoed: Iterable[str] = (),
    ) -> Pipeline:
        """A preset with single passes switched on or off.

        Raises:
            StudioError: the preset or a pass id is unknown.
        """
        known = preset_named(preset)
        if known is None:
            told = ", ".join(preset_names())
            raise StudioError(f"There is no preset {quoted(preset)}; there are {told}.")
        wanted = {p.id for p in passes() if known in p.presets}
        wanted |= {_known(pass_id).id for pass_id in enable}
        wanted -= {_known(pass_id).id for pass_id in disable}
        chosen = tuple(p() for p in passes() if p.id in wanted)
        return Pipeline(chosen, known, frozenset(vetoed))

    def switched(self, *, enable: Iterable[str] = (), disable: Iterable[str] = ()) -> Pipeline:
        """The same with passes switched on, which come last, or off.

        Raises:
            StudioError: a pass id is unknown.
        """
        off = {_known(pass_id).id for pass_id in disable}
        new = [_known(pass_id) for pass_id in enable if pass_id not in self.ids]
        passes = (*self.passes, *(p() for p in new))
        return replace(self, passes=tuple(one for one in passes if one.id not in off))

    @staticmethod
    def listed(ids: Iterable[str]) -> Pipeline:
        """These passes alone, in this order.

        Raises:
            StudioError: a pass id is unknown.
        """
        return Pipeline(tuple(_known(pass_id)() for pass_id in dict.fromkeys(ids)))

    def configured(self, plan: Pipeline) -> Pipeline:
        """The same passes with a plan's options, order and places, as far as the plan has them."""
        on, known = set(self.ids), set(plan.ids)
        passes = [one for one in plan.passes if one.id in on]
        passes += [one for one in self.passes if one.id not in known]
        places = {key: nodes for key, nodes in plan.places.items() if key in on}
        return replace(self, passes=tuple(passes), places={**self.places, **places})

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the passes, in running order."""
        return tuple(p.id for p in self.passes)

    def to_json(self) -> dict[str, object]:
        """The pipeline as plain data."""
        # Places only where there are any: other pipelines are the same data as ever.
        places = {"places": {key: sorted(nodes) for key, nodes in sorted(self.places.items())}}
        return {
            "preset": self.preset,
            "passes": [{"id": p.id, "options": dict(p.options())} for p in self.passes],
            "vetoed": sorted(self.vetoed),
            **(places if self.places else {}),
        }

    @staticmethod
    def from_json(data: Mapping[str, object]) -> Pipeline:
        """The inverse of `to_json`.

        Raises:
            StudioError: a pass or an option is unknown.
        """
        configured: list[Pass] = []
        for entry in cast("Iterable[Mapping[str, Any]]", data["passes"]):
            known = _known(str(entry["id"]))
            names = {option.name for option in fields(known)}
            options = {name: _tupled(value) for name, value in dict(entry["options"]).items()}
            if unknown := sorted(set(options) - names):
                raise StudioError(f"Pass '{known.id}' has no option {quoted(unknown[0])}.")
            configured.append(known(**options))
        vetoed = frozenset(map(str, cast("Iterable[object]", data["vetoed"])))
        listed = cast("Mapping[str, Iterable[str]]", data.get("places", {}))
        places = {key: frozenset(nodes) for key, nodes in listed.items()}
        preset = str(data["preset"])
        return Pipeline(tuple(configured), preset_named(preset) or preset, vetoed, places)


def _tupled(value: object) -> object:
    """Lists, as JSON has them, as the tuples that options are."""
    listed = isinstance(value, list)
    return tuple(map(_tupled, cast("list[object]", value))) if listed else value


def _known(pass_id: str) -> type[Pass]:
    found = find(pass_id)
    if found is None:
        near = get_close_matches(pass_id, [p.id for p in passes()], n=1)
        hint = f"did you mean {near[0]}?" if near else "passlens passes lists them."
        raise StudioError(f"There is no pass {quoted(pass_id)}; {hint}")
    return found


def preset_names() -> tuple[str, ...]:
    """Every preset, "none" last."""
    return (*PRESETS, NO_PRESET)
