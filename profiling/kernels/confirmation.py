"""What won in the races of single workloads, in the whole model: only this is believed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from optimizer.codec import Format
from optimizer.errors import StudioError
from optimizer.isolation import Progress
from profiling.config.settings import from_values
from profiling.kernels.decision import Choice
from profiling.kernels.reformulations import BY_ID, EQUAL, loosest
from profiling.kernels.rewriting import Changed, Substitute, write_changed
from profiling.kernels.selection import Selection
from profiling.racing.measure import RacePlan, measure
from profiling.racing.race import Race, Variant
from profiling.racing.samples import Contrast
from profiling.workers import WorkerPool

AS_IT_IS = "as it is"
OPTIONS = "chosen options"
WRITTEN = "rewritten operators"
BOTH = "options and rewritten operators"

TUNING_RESULTS = "tuning_results"
"""The metadata key under which ONNX Runtime looks for kernel choices in a model file."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The whole model before and after.

    Attributes:
        choice: what was tried.
        race: as it is, then with what was chosen.
        predicted: label -> share of the time that the races of single workloads promised.
        changed: workload key -> what became of its places.
        adopted: label of the variant to take; `as it is` if nothing is surely faster.
        file: with the rewritten operators; None if there are none.
    """

    choice: Choice
    race: Race
    predicted: Mapping[str, float]
    changed: Mapping[str, Changed]
    adopted: str
    file: Path | None = None

    @property
    def finding(self) -> str:
        """Predicted and measured, one sentence."""
        best = self.adopted if self.adopted != AS_IT_IS else self.race.timings[-1].label
        found = self.race.contrast(best, baseline=AS_IT_IS)
        predicted = f"predicted {100 * self.predicted.get(best, 0.0):.0f} % less time"
        if found is None or not self.is_believable(best):
            return f"{predicted}, but {self.race.verdict(best)}"
        text = f"{predicted}, measured {saved_text(found)}"
        return text if self.adopted != AS_IT_IS else f"{text}: it stays as it is"

    def is_believable(self, label: str) -> bool:
        """Whether that variant ran and computed the right thing."""
        return next(t for t in self.race.timings if t.label == label).believable


CONFIRMATION = Format(
    Confirmation,
    "passlens.kernels-choice/1",
    "recorded choice",
    names={"file": None},
    older={"None": dict},
)


def saved_text(found: Contrast) -> str:
    """A contrast as a share of the time saved: `9 % (95 % interval 6–12 %)`."""
    if found.verdict == "no_clear_difference":
        return f"no clear difference ({_share(found.low)} to {_share(found.high)})"
    kind = "" if found.speedup > 1 else ", that is, slower"
    return (
        f"{_share(found.speedup)} (95 % interval {_share(found.low)} to {_share(found.high)}{kind})"
    )


def _share(speedup: float) -> str:
    return f"{100 * (1 - 1 / speedup):.0f} %".replace("-", "−") if speedup > 0 else "?"


def confirm(
    variant: Variant,
    selection: Selection,
    choice: Choice,
    *,
    pool: WorkerPool,
    folder: Path,
    seconds: float = 20.0,
    tuning: str = "",
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Confirmation:
    """Write the model with what was chosen, and race it against the model as it is.

    Args:
        variant: the model and how it is run now.
        selection: what was found on it.
        choice: what to apply.
        pool: where it runs.
        folder: for the file with the rewritten operators.
        seconds: of steady running.
        tuning: tuning results to carry along in the file, as JSON; empty for none.
        progress: told what is being done.
        cancelled: asked whether to stop.

    Raises:
        StudioError: nothing was chosen, or the model cannot be written or run.
    """
    if not choice.anything:
        raise StudioError("Nothing was surely faster, so there is nothing to apply.")
    operators = {race.operator.workload.key: race.operator for race in selection.races}
    ways = choice.reformulations
    changes = [Substitute(operators[key].nodes, way) for key, way in ways.items()]
    target, results = folder.absolute() / "kernels.onnx", tuple[Changed, ...]()
    if changes:
        folder.mkdir(parents=True, exist_ok=True)
        properties = {TUNING_RESULTS: tuning} if tuning and json.loads(tuning) else {}
        results = pool(
            write_changed, variant.located, changes, target, properties, cancelled=cancelled
        )
    file = target if any(result.places for result in results) else None
    tried = list(_tried(variant, choice, file))
    tolerance = loosest([EQUAL, *(BY_ID[way].tolerance for way in ways.values())])
    race = measure(
        [Variant(AS_IT_IS, variant.model, variant.config), *(one for one, _ in tried)],
        pool=pool,
        plan=RacePlan(seconds=seconds, tolerance=tolerance),
        progress=progress,
        cancelled=cancelled,
    )
    promised = {one.label: saved for one, saved in tried}
    changed = dict(zip(ways, results, strict=True))
    return Confirmation(choice, race, promised, changed, adopted(race), file)


def adopted(race: Race) -> str:
    """The fastest variant that is surely faster than the first; else the first."""
    best, lowest = race.timings[0].label, 1.0
    for timing in race.timings[1:]:
        found = race.contrast(timing.label, baseline=race.timings[0].label)
        sure = found is not None and found.verdict == "faster" and timing.believable
        if found is not None and sure and found.low > lowest:
            best, lowest = timing.label, found.low
    return best


def _tried(variant: Variant, choice: Choice, file: Path | None) -> Iterator[tuple[Variant, float]]:
    """What is raced against the model as it is, and the share of the time it promises to save."""
    chosen = from_values(dict(choice.options), base=variant.config)
    if choice.options:
        yield Variant(OPTIONS, variant.model, chosen), choice.saved_by_options
    if file is not None:
        yield Variant(WRITTEN, file, variant.config), choice.saved_by_reformulations
    if file is not None and choice.options:
        yield Variant(BOTH, file, chosen), choice.saved
