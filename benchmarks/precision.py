"""Which precision does the search choose for real networks, what does it lose, and is it faster?

Each network has a search within a budget of 25 dB, for speed, deployed on one thread; BERT-base
has a second one for size. Errors are of four generated inputs that nothing was calibrated on, so
that they rank plans and say nothing about real data. Float counts as 1.00 where the answer is
float. Beside it what ONNX Runtime's own tool makes of the network with the same ranges, and what
the same plans say to a budget of 0.5 % of an output's scale.

    python -m benchmarks.precision ZOO... --keep FOLDER [--minutes M] [--only NAME] [--write FILE]

`--minutes` is for all of it: networks get parts of it by their size, those that the project makes
promises about first. What was found is kept in a folder as it comes, and the report is written
after each network; the same command goes on where it ended. Trained networks lie in a folder of
their own (`--trained`, or the environment variable PASSLENS_TRAINED).
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import describe
from benchmarks.report import MIB, parser, publish, section
from optimizer.errors import StudioError
from optimizer.verify import ErrorBudget
from profiling.config.question import config_for
from profiling.precision.choose import SearchRequest, choose
from profiling.precision.chosen import CHOSEN, ChosenPlan
from profiling.precision.evaluation import PlanEvaluation, Requirement
from profiling.precision.plans import Goal
from profiling.precision.trials import Allowance
from profiling.workers import default_pool

BUDGET = Requirement(ErrorBudget(25.0, "dB"))
TIGHT = Requirement(ErrorBudget(0.5, "%"))
HEADER = (
    "| network | regions | plans | answer | signal over error | worst sample | of the scale "
    "| times as fast | 95 % interval | size | ONNX Runtime's own | within 0.5 % |"
)
PROMISED = ("bert_base_ts", "distilbert_ts", "vit_small_ts", "resnet50_ts", "mobilenetv2_ts_op12")
FOR_SIZE = "bert_base_ts"
SMALL = ("fastestdet", "basic_pitch")
"""Trained networks in which integers gain nothing."""

_LEAST_S, _LARGE_S, _LARGE = 15.0, 60.0, 100 * MIB
"""What a search wants: the least, and what is added for a file as large as this."""
_OF_SEARCH = 0.6
"""Of the time of a network; the rest prepares, calibrates and ends with a race."""


@dataclass(frozen=True, slots=True)
class Search:
    """One search of the table.

    Attributes:
        goal: what is to be gained.
    """

    path: Path
    goal: Goal = "speed"

    @property
    def name(self) -> str:
        """Of its row, and of the file that it is kept in."""
        return self.path.stem if self.goal == "speed" else f"{self.path.stem}, for size"

    @property
    def wants(self) -> float:
        """Seconds."""
        return _LEAST_S + _LARGE_S * min(1.0, self.path.stat().st_size / _LARGE)


def searches(folders: Sequence[Path], only: Sequence[str]) -> list[Search]:
    """All of the folders, in the order in which they are worth the time."""
    paths = [
        path
        for folder in folders
        for path in ([folder] if folder.is_file() else sorted(folder.glob("*.onnx")))
        if not only or any(name in path.stem for name in only)
    ]

    def place(search: Search) -> tuple[int, float]:
        first = [*PROMISED, *SMALL]
        found = [number for number, name in enumerate(first) if name in search.path.stem]
        return (found[0] if found else len(first), search.path.stat().st_size)

    every = [Search(path) for path in dict.fromkeys(paths)]
    every += [
        Search(path, "size") for path in dict.fromkeys(paths) if path.stem.startswith(FOR_SIZE)
    ]
    return sorted(every, key=place)


def found_before(search: Search, folder: Path) -> ChosenPlan | str | None:
    """What is kept of a search: what it found, or why it could not; None if there is nothing."""
    file = folder / f"{search.name}.json"
    if not file.exists():
        return None
    document = json.loads(file.read_bytes())
    return document if isinstance(document, str) else CHOSEN.from_json(document)


def find(search: Search, folder: Path, seconds: float) -> ChosenPlan | str:
    """Search, and keep what was found."""
    config = config_for("deployed", {"intra_threads": 1})
    asked = SearchRequest(BUDGET, search.goal, allowance=Allowance(seconds), config=config)
    try:
        found: ChosenPlan | str = choose(search.path, asked, pool=default_pool())
    except StudioError as error:
        found = error.message
    document = found if isinstance(found, str) else CHOSEN.to_json(found)
    (folder / f"{search.name}.json").write_text(json.dumps(document), encoding="utf-8")
    return found


def report(found: Mapping[str, ChosenPlan]) -> Iterator[str]:
    """The table, and what it comes to."""
    yield HEADER
    yield "|---|--:|--:|---|--:|--:|--:|--:|---|--:|---|---|"
    for name, chosen in found.items():
        yield _row(name, chosen)
    raced = [one for one in found.values() if one.goal == "speed"]
    speeds = [1.0 if one.answer.speed is None else one.answer.speed.speedup for one in raced]
    if not speeds:
        return
    mean = math.exp(math.fsum(map(math.log, speeds)) / len(speeds))
    floats = sum(one.found.answer == 0 for one in raced)
    yield ""
    yield f"Geometric mean of {len(speeds)}, float as 1.00: {mean:.2f}×; float for {floats}."


def _row(name: str, chosen: ChosenPlan) -> str:
    answer, source = chosen.answer, chosen.found.evaluations[0]
    text, shown = answer.plan.text(chosen.regions), answer
    if not chosen.found.answer and chosen.found.nearest is not None:
        shown = chosen.found.evaluations[chosen.found.nearest]
        text = f"float; nearest: {shown.plan.text(chosen.regions)}"
    speed = shown.speed
    cells = [
        name,
        len(chosen.regions),
        len(chosen.found.evaluations) - 1,
        text,
        *(f"{db:.1f} dB" if math.isfinite(db) else "—" for db in (shown.sqnr_db, shown.worst_db)),
        f"{100 * shown.scaled:.2g} %",
        "—" if speed is None else f"{speed.speedup:.2f}",
        "—" if speed is None else f"{speed.low:.2f}–{speed.high:.2f}",
        f"{shown.size_bytes / 1e6:.1f} of {source.size_bytes / 1e6:.1f} MB",
        _theirs(chosen),
        _tight(chosen),
    ]
    return f"| {' | '.join(map(str, cells))} |"


def _tight(chosen: ChosenPlan) -> str:
    """The fastest of the plans tried that loses half a percent at most; float where none does."""
    fits = [
        one for one in chosen.found.evaluations[1:]
        if not one.failure and one.is_faster and TIGHT.excess(one) <= 0
    ]  # fmt: skip

    def low(one: PlanEvaluation) -> float:
        return one.speed.low if one.speed is not None else 0.0

    return max(fits, key=low).plan.text(chosen.regions) if fits else "float"


def _theirs(chosen: ChosenPlan) -> str:
    """ONNX Runtime's own tool, statically and dynamically."""
    made = [one for one in chosen.found.evaluations if one.plan.variant == "onnxruntime"]
    cells = [
        f"{_way(one)} "
        + (
            "fails" if one.failure
            else f"{one.sqnr_db:.1f} dB" + (f" {one.speed.speedup:.2f}" if one.speed else "")
        )
        for one in made
    ]  # fmt: skip
    return "; ".join(cells) or "—"


def _way(evaluation: PlanEvaluation) -> str:
    return "static" if evaluation.plan.method else "dynamic"


def _failures(found: Mapping[str, ChosenPlan]) -> Iterator[str]:
    """Where ONNX Runtime's own tool, or what it made, fails."""
    for name, chosen in found.items():
        for one in chosen.found.evaluations:
            if one.plan.variant == "onnxruntime" and one.failure:
                yield f"- {name}, {_way(one)}: {one.failure}"


def lines(results: Mapping[str, ChosenPlan | str], not_reached: Sequence[str]) -> Iterator[str]:
    """The whole report."""
    found = {name: one for name, one in results.items() if isinstance(one, ChosenPlan)}
    left_out = [f"- {name}: {one}" for name, one in results.items() if isinstance(one, str)]
    yield from (describe("passlens", "onnxruntime-gpu", "optuna"), "", *report(found))
    yield from section("Left out:", left_out)
    yield from section("Where ONNX Runtime's own tool fails:", list(_failures(found)))
    yield from section("Not reached in the time given:", [f"- {name}" for name in not_reached])


def main() -> None:
    """Search for every network as long as there is time, and report after each."""
    made = parser(__doc__)
    made.add_argument("--keep", type=Path, required=True, help="folder for what was found")
    made.add_argument("--minutes", type=float, default=33.0, help="for all networks together")
    made.add_argument(
        "--only", action="append", default=[], help="networks with this in their name"
    )
    trained = os.environ.get("PASSLENS_TRAINED")
    made.add_argument(
        "--trained", type=Path, default=Path(trained) if trained else None,
        help="folder with trained networks",
    )  # fmt: skip
    arguments = made.parse_args()
    arguments.keep.mkdir(parents=True, exist_ok=True)
    folders = [*arguments.folders, *([arguments.trained] if arguments.trained else [])]
    wanted = searches(folders, arguments.only)
    before = {search: found_before(search, arguments.keep) for search in wanted}
    results = {search.name: found for search, found in before.items() if found is not None}
    left = [search for search, found in before.items() if found is None]
    ends = time.monotonic() + 60 * arguments.minutes
    while left and time.monotonic() < ends:
        share = left[0].wants / sum(search.wants for search in left)
        seconds = max(_LEAST_S, _OF_SEARCH * share * (ends - time.monotonic()))
        search = left.pop(0)
        print(f"{search.name}: {seconds:.0f} s", file=sys.stderr, flush=True)
        results[search.name] = find(search, arguments.keep, seconds)
        if arguments.write is not None:
            text = "\n".join(lines(results, [one.name for one in left]))
            arguments.write.write_text(f"{text}\n", encoding="utf-8")
    publish(lines(results, [search.name for search in left]), arguments.write)


if __name__ == "__main__":
    main()
