"""What do generated kernels bring whole networks, beside the best there is without them?

    python -m benchmarks.generated ZOO... --keep FOLDER [--prepare] [--minutes M] [--threads N]
                                   [--only NAME] [--write FILE]

Each network, its free sizes bound, as it came and as the presets `default` and `runtime` make it,
under all of ONNX Runtime's own rewrites and without the two that are slow on a CPU, against the
preset `generated`: all in one interleaved race, outputs compared first. Then kernels are left out
in parts; what does not pay is taken back (`profiling.kernels.generated.settling`). Times are shares
of that of the best form without kernels, with 95 % intervals; without any kernel it is 1.00.

`--prepare` writes the files, builds the libraries and times nothing: what takes long and may share
the machine. `--minutes` is for all races together; networks get parts of it by their size, those
that the project makes promises about first. What was found is kept in the folder as it comes, and
the report is written after each network; the same command goes on where it ended.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.generated_table import GROUPS, Network, lines
from benchmarks.models import sizes_of
from benchmarks.report import parser, publish, section
from optimizer.codec import Format
from optimizer.errors import StudioError
from optimizer.model.generated_functions import generated_names
from optimizer.model.loader import load_path
from optimizer.model.writer import write
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.source import complete
from optimizer.verify import jobs
from profiling.codegen.store import build_missing
from profiling.config.question import config_for
from profiling.kernels.generated.implementations import BUILDING, SLOW_FUSIONS
from profiling.kernels.generated.settling import SettledNetwork, settle_network
from profiling.racing.plan import RacePlan
from profiling.racing.race import Variant
from profiling.workers import default_pool

PRESETS = ("default", "runtime")
GENERATED, SOURCE = "generated", "source"
UNFUSED = "without two fusions"
_LEAST_S = 20.0
_OF_RACES = 0.6
"""Of a network's time; the rest opens sessions and warms them up."""
FOUND = Format(SettledNetwork, "passlens.settled-network/1", "result of a network")


def networks(folders: Sequence[Path], only: Sequence[str]) -> list[Network]:
    """Those that something is promised about, in that order; then all others, the small first."""
    order = [(name, group) for group, (_, names) in GROUPS.items() for name in names]
    paths = [path for folder in folders for path in sorted(folder.glob("*.onnx"))]
    found = [
        Network(path, group)
        for name, group in order
        for path in paths
        if path.stem.startswith(name)
    ]
    named = {one.path for one in found}
    rest = sorted((path for path in paths if path not in named), key=lambda p: p.stat().st_size)
    every = [*found, *(Network(path, "") for path in rest)]
    return [one for one in every if not only or any(part in one.name for part in only)]


def prepare(network: Network, folder: Path) -> None:
    """Write the file of every preset, unless it is there, and build the kernels.

    Raises:
        StudioError: the network cannot be opened or optimized, or a kernel not built.
    """
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"{SOURCE}.onnx"
    if not source.exists():
        model = load_path(network.path)
        write(complete(model, isolate=default_pool(), bind=sizes_of(model)).ir, source)
    for preset in (*PRESETS, GENERATED):
        target = folder / f"{preset}.onnx"
        if target.exists():
            continue
        model = complete(load_path(source), isolate=default_pool())
        optimize(model, Pipeline.of(preset), isolate=default_pool())
        write(model.ir, target)
    default_pool()(build_missing, folder / f"{GENERATED}.onnx", "halide", limits=BUILDING)


def variants(folder: Path, threads: int) -> tuple[list[Variant], Variant]:
    """All forms without kernels, and the one with all of them."""
    usual = config_for("deployed", {"intra_threads": threads})
    left_out = "+".join(SLOW_FUSIONS)
    unfused = config_for("deployed", {"intra_threads": threads, "optimizers_off": left_out})
    rivals = [Variant(one, folder / f"{one}.onnx", usual) for one in (SOURCE, *PRESETS)]
    # What `runtime` writes into the file, no option takes out.
    rivals += [
        Variant(f"{one} {UNFUSED}", folder / f"{one}.onnx", unfused) for one in (SOURCE, "default")
    ]
    return rivals, Variant(GENERATED, folder / f"{GENERATED}.onnx", unfused)


def find(network: Network, folder: Path, *, threads: int, seconds: float) -> SettledNetwork:
    """Race a network, and keep what was found.

    Raises:
        StudioError: it cannot be prepared, or does not run.
    """
    prepare(network, folder)
    rivals, generated = variants(folder, threads)
    found = settle_network(
        rivals,
        generated,
        generated_names(folder / f"{GENERATED}.onnx"),
        pool=default_pool(),
        plan=RacePlan(seconds=seconds, runs=1, precision=0.005, request=jobs.Request(seeds=1)),
        folder=folder,
    )
    _kept(folder, threads).write_text(json.dumps(FOUND.to_json(found)), encoding="utf-8")
    return found


def found_before(folder: Path, threads: int) -> SettledNetwork | None:
    """What is kept of a network."""
    file = _kept(folder, threads)
    return FOUND.loads(file.read_bytes()) if file.exists() else None


def _kept(folder: Path, threads: int) -> Path:
    return folder / f"found-{threads}.json"


def raced(
    wanted: Sequence[Network],
    counts: Sequence[int],
    keep: Path,
    *,
    minutes: float,
    write_to: Path | None,
) -> None:
    """Race what was not raced before, as long as there is time; report after each.

    Args:
        wanted: the networks, those of promises first.
        counts: numbers of threads.
        keep: folder with a folder for each network.
        minutes: for all of them.
        write_to: gets the report.
    """
    ends, left_out = time.monotonic() + 60 * minutes, list[str]()
    results: dict[int, dict[Network, SettledNetwork]] = {count: {} for count in counts}
    left: list[tuple[Network, int]] = []
    for network, count in _in_order(wanted, counts):
        before = found_before(keep / network.name, count)
        if before is None:
            left.append((network, count))
        else:
            results[count][network] = before
    while left and time.monotonic() < ends:
        share = left[0][0].wants / sum(network.wants for network, _ in left)
        seconds = max(_LEAST_S, _OF_RACES * share * (ends - time.monotonic()))
        network, count = left.pop(0)
        print(f"{network.name}, {count}: {seconds:.0f} s", file=sys.stderr, flush=True)
        try:
            results[count][network] = find(
                network, keep / network.name, threads=count, seconds=seconds
            )
        except StudioError as error:
            left_out.append(f"- {network.name}, {count}: {error.message}")
        if write_to is not None:
            text = "\n".join(lines(results, left_out, _names(left)))
            write_to.write_text(f"{text}\n", encoding="utf-8")
    publish(lines(results, left_out, _names(left)), write_to)


def _in_order(wanted: Sequence[Network], counts: Sequence[int]) -> list[tuple[Network, int]]:
    """Networks of promises under every number of threads, then all others."""
    promised = [(one, count) for count in counts for one in wanted if one.group]
    return [*promised, *((one, count) for count in counts for one in wanted if not one.group)]


def _names(left: Sequence[tuple[Network, int]]) -> list[str]:
    return [f"{network.name}, {count} threads" for network, count in left]


def main() -> None:
    """Prepare every network, or race them as long as there is time and report after each."""
    made = parser(__doc__)
    made.add_argument("--keep", type=Path, required=True, help="folder for files and results")
    made.add_argument("--prepare", action="store_true", help="write files and build libraries")
    made.add_argument("--minutes", type=float, default=15.0, help="for all races together")
    made.add_argument("--threads", type=int, action="append", help="one row for each; 1 and 2")
    made.add_argument(
        "--only", action="append", default=[], help="networks with this in their name"
    )
    arguments = made.parse_args()
    wanted, left_out = networks(arguments.folders, arguments.only), list[str]()
    if arguments.prepare:
        for network in wanted:
            print(network.name, file=sys.stderr, flush=True)
            try:
                prepare(network, arguments.keep / network.name)
            except StudioError as error:
                left_out.append(f"- {network.name}: {error.message}")
        publish(section("Left out:", left_out), None)
        return
    counts: list[int] = arguments.threads or [1, 2]
    raced(wanted, counts, arguments.keep, minutes=arguments.minutes, write_to=arguments.write)


if __name__ == "__main__":
    main()
