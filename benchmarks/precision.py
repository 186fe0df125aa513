"""Which precision does the search choose for real networks, what does it lose, and is it faster?

Each network has a search within a budget of 25 dB, for speed, deployed on one thread; errors are of
four generated inputs that nothing was calibrated on, so that they rank plans and say nothing about
real data. Float counts as 1.00 where the answer is float. Last, what the same plans say to a budget
of 0.5 % of an output's scale. What was found is kept in a folder, so that a run can be continued.

    python -m benchmarks.precision ZOO [FOLDER...] --keep FOLDER [--minutes M] [--write FILE]
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.machine import describe
from benchmarks.report import parser, publish, section
from optimizer.errors import StudioError
from optimizer.verify import ErrorBudget
from profiling.config.question import config_for
from profiling.precision.choose import SearchRequest, choose
from profiling.precision.chosen import CHOSEN, ChosenPlan
from profiling.precision.evaluation import PlanEvaluation, Requirement
from profiling.precision.trials import Allowance
from profiling.workers import default_pool

BUDGET = Requirement(ErrorBudget(25.0, "dB"))
TIGHT = Requirement(ErrorBudget(0.5, "%"))
HEADER = (
    "| network | regions | plans | answer | signal over error | of the scale | speed "
    "| 95 % interval | size | within 0.5 % |"
)


def kept(path: Path, folder: Path, minutes: float) -> ChosenPlan | str:
    """What was found for a network, now or before; why nothing was."""
    file = folder / f"{path.stem}.json"
    if file.exists():
        document = json.loads(file.read_bytes())
        return document if isinstance(document, str) else CHOSEN.from_json(document)
    config = config_for("deployed", {"intra_threads": 1})
    asked = SearchRequest(BUDGET, allowance=Allowance(60 * minutes), config=config)
    print(path.name, file=sys.stderr)
    try:
        found: ChosenPlan | str = choose(path, asked, pool=default_pool())
    except StudioError as error:
        found = error.message
    document = found if isinstance(found, str) else CHOSEN.to_json(found)
    file.write_text(json.dumps(document), encoding="utf-8")
    return found


def report(found: dict[str, ChosenPlan]) -> Iterator[str]:
    """The table, and what it comes to."""
    yield HEADER
    yield "|---|--:|--:|---|--:|--:|--:|---|--:|---|"
    for name, chosen in found.items():
        yield _row(name, chosen)
    speeds = [
        1.0 if one.answer.speed is None else one.answer.speed.speedup for one in found.values()
    ]
    mean = math.exp(math.fsum(map(math.log, speeds)) / len(speeds))
    floats = sum(one.found.answer == 0 for one in found.values())
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
        f"{shown.sqnr_db:.1f} dB" if math.isfinite(shown.sqnr_db) else "—",
        f"{100 * shown.scaled:.2g} %",
        "—" if speed is None else f"{speed.speedup:.2f}",
        "—" if speed is None else f"{speed.low:.2f}–{speed.high:.2f}",
        f"{100 * shown.size_bytes / source.size_bytes:.0f} %",
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


def files(folders: Sequence[Path]) -> Iterator[Path]:
    """Networks, each once."""
    for folder in folders:
        yield from [folder] if folder.is_file() else sorted(folder.glob("*.onnx"))


def main() -> None:
    """Search for every network, then report."""
    made = parser(__doc__)
    made.add_argument("--keep", type=Path, required=True, help="folder for what was found")
    made.add_argument("--minutes", type=float, default=2.0, help="for each search")
    arguments = made.parse_args()
    arguments.keep.mkdir(parents=True, exist_ok=True)
    results = {
        path.stem: kept(path, arguments.keep, arguments.minutes)
        for path in files(arguments.folders)
    }
    found = {name: one for name, one in results.items() if isinstance(one, ChosenPlan)}
    left_out = [f"- {name}: {one}" for name, one in results.items() if isinstance(one, str)]
    lines = [describe("passlens", "onnxruntime-gpu", "optuna"), "", *report(found)]
    publish([*lines, *section("Left out:", left_out)], arguments.write)


if __name__ == "__main__":
    main()
