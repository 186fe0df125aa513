"""Is what we make of a network ever slower than the best that anybody else makes of it?

    python -m benchmarks.latency FOLDER... --keep FOLDER [--prepare] [--minutes M] [--threads N]
                                 [--races N] [--only NAME]* [--again FORM]* [--write FILE]

Each network as it came, as the presets make it, and as every other optimizer that is installed
(`PEERS_PYTHON` has them; `onnxruntime.transformers` is one) makes it: all under all of ONNX
Runtime's own rewrites, in one interleaved race, outputs compared first. Forms that are the same
graph once the runtime has rewritten them are raced once. Times are shares of the source's, with
95 % intervals. Two processes of one file differ by a few per cent for as long as they live: with
`--races` there are several races, each in new processes that start in another order, of which the
median counts.

`--prepare` has every file written and asks the runtime which are the same: all that takes long and
may share the machine. `--minutes` is for the races, which want a quiet one; networks get parts of
it by their size. What was found is kept in the folder as it comes, and the report is written after
each network; the same command goes on where it ended. `--again` has a form made anew, and networks
raced anew that it changes.
"""

from __future__ import annotations

import hashlib
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx

from benchmarks.generated_forms import PRESETS, SOURCE, preset_form
from benchmarks.latency_table import LATENCY, Latency, report
from benchmarks.machine import describe
from benchmarks.models import sizes_of
from benchmarks.peers import PEERS, RUNTIME_PEERS, kind_of, peer_forms, peer_versions
from benchmarks.report import parser, publish, section
from optimizer.codec import Format
from optimizer.errors import StudioError
from optimizer.model.loader import load_path
from optimizer.verify import jobs
from profiling.kernels.generated.rivals import distinct, usual_config
from profiling.racing.measure import measure
from profiling.racing.plan import RacePlan
from profiling.racing.race import Race, Variant
from profiling.workers import default_pool

_LEAST_S = 20.0
_LARGE = 1e8
_WITH_WARM_UP = 1.6
"""What a race takes altogether, as a multiple of its steady state."""


@dataclass(frozen=True, slots=True)
class Forms:
    """The files of a network.

    Attributes:
        mark: which files there were.
        same: label -> labels of others that are the same graph in the runtime.
        left_out: other forms, with the reason.
        frozen: those whose inputs are not the source's: what a caller may override is a constant.
    """

    mark: str
    same: dict[str, tuple[str, ...]]
    left_out: tuple[str, ...]
    frozen: tuple[str, ...]


FORMS = Format(Forms, "passlens.latency-forms/1", "files of a network")


def prepared(network: Path, folder: Path, *, threads: int) -> Forms:
    """The files of a network, written where they are missing.

    Raises:
        StudioError: the network cannot be opened or optimized.
    """
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"{SOURCE}.onnx"
    if not source.exists():
        source.symlink_to(network.absolute())
    files = {SOURCE: source, **{preset: preset_form(preset, source) for preset in PRESETS}}
    left_out: list[str] = []
    every = {**PEERS, **RUNTIME_PEERS}
    for name, problem in peer_forms(source, folder, every, kind=kind_of(network.stem)):
        if problem:
            left_out.append(f"{name}: {problem}")
        else:
            files[name] = folder / f"{name}.onnx"
    mark, kept = _mark(_files(folder)), _forms(folder, threads)
    if kept.exists() and (before := FORMS.loads(kept.read_bytes())).mark == mark:
        return before
    variants = [Variant(label, path, usual_config(threads)) for label, path in files.items()]
    rivals, refused = distinct(variants, pool=default_pool())
    left_out += [
        f"{label}: {reason}".replace(f"{folder}/", "") for label, reason in refused.items()
    ]
    frozen = tuple(label for label, path in files.items() if _defaults(source) - _defaults(path))
    made = Forms(mark, {one.label: one.same for one in rivals}, tuple(left_out), frozen)
    kept.write_bytes(FORMS.dumps(made))
    return made


def _defaults(path: Path) -> set[str]:
    """Inputs that a caller may leave out: there is an initializer of that name."""
    graph = onnx.load(path, load_external_data=False).graph
    return {value.name for value in graph.input} & {value.name for value in graph.initializer}


def raced(network: Path, folder: Path, *, threads: int, races: int, seconds: float) -> Latency:
    """Race the forms of a network, so many times in this time, and keep what was found.

    Raises:
        StudioError: it cannot be prepared, or does not run.
    """
    forms = prepared(network, folder, threads=threads)
    config = usual_config(threads)
    request = jobs.Request(seeds=1, bindings=sizes_of(load_path(network)))
    source, *others = [Variant(name, folder / f"{name}.onnx", config) for name in forms.same]
    plan = RacePlan(seconds=seconds / races, request=request)
    held: list[Race] = []
    for _ in range(races):
        held.append(measure([source, *others], pool=default_pool(), plan=plan))
        random.Random(len(held)).shuffle(others)  # noqa: S311 no secret
    found = Latency(network.stem, forms.mark, tuple(held), forms.same, forms.left_out, forms.frozen)
    _kept(folder, threads).write_bytes(LATENCY.dumps(found))
    return found


def raced_before(network: Path, folder: Path, *, threads: int) -> Latency | None:
    """What is kept of a network, if its files are those that were raced."""
    file, forms = _kept(folder, threads), _forms(folder, threads)
    if not file.exists() or not forms.exists():
        return None
    found = LATENCY.loads(file.read_bytes())
    return found if found.mark == _mark(_files(folder)) else None


def _kept(folder: Path, threads: int) -> Path:
    return folder / f"latency-{threads}.json"


def _forms(folder: Path, threads: int) -> Path:
    return folder / f"forms-{threads}.json"


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.onnx"))


def _mark(files: Sequence[Path]) -> str:
    """What files are there, by size and time of writing."""
    told = [f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in files]
    return hashlib.sha256("\n".join(sorted(told)).encode()).hexdigest()[:16]


def networks(folders: Sequence[Path], only: Sequence[str]) -> list[Path]:
    """The files, small ones first."""
    paths = [path for folder in folders for path in folder.glob("*.onnx")]
    wanted = [path for path in paths if not only or any(part in path.stem for part in only)]
    return sorted(wanted, key=lambda path: path.stat().st_size)


def prepare(wanted: Sequence[Path], keep: Path, threads: int) -> list[str]:
    """Have everything ready; a line for each network that cannot be."""
    left_out: list[str] = []
    for network in wanted:
        try:
            forms = prepared(network, keep / network.stem, threads=threads)
        except StudioError as error:
            left_out.append(f"- {network.stem}: {error.message}")
            continue
        told = ", ".join(" = ".join([label, *same]) for label, same in forms.same.items())
        print(f"{network.stem}: {told}", file=sys.stderr, flush=True)
    return left_out


def race_all(
    wanted: Sequence[Path],
    keep: Path,
    *,
    threads: int,
    races: int,
    minutes: float,
    write_to: Path | None,
) -> None:
    """Race what was not raced before, as long as there is time; report after each."""
    ends, left_out, results = time.monotonic() + 60 * minutes, list[str](), list[Latency]()
    left: list[Path] = []
    for network in wanted:
        before = raced_before(network, keep / network.stem, threads=threads)
        if before is None:
            left.append(network)
        else:
            results.append(before)
    while left and time.monotonic() < ends - _LEAST_S:
        share = _wants(left[0]) / sum(map(_wants, left))
        seconds = max(_LEAST_S, share * (ends - time.monotonic()) / _WITH_WARM_UP)
        network = left.pop(0)
        print(f"{network.stem}: {seconds:.0f} s", file=sys.stderr, flush=True)
        try:
            folder = keep / network.stem
            found = raced(network, folder, threads=threads, races=races, seconds=seconds)
            results.append(found)
        except StudioError as error:
            left_out.append(f"- {network.stem}: {error.message}")
        if write_to is not None:
            text = "\n".join(_lines(results, left_out, left, threads))
            write_to.write_text(f"{text}\n", encoding="utf-8")
    publish(_lines(results, left_out, left, threads), write_to)


def _wants(network: Path) -> float:
    """Its share of the time: large networks run longer."""
    return 1 + min(3.0, network.stat().st_size / _LARGE)


def _lines(
    results: Sequence[Latency], left_out: Sequence[str], left: Sequence[Path], threads: int
) -> Iterator[str]:
    yield f"{describe('passlens', 'onnxruntime-gpu')}; {peer_versions()}"
    yield ""
    yield f"On {'one thread' if threads == 1 else f'{threads} threads'}:"
    yield ""
    yield from report(results)
    yield from section("Left out:", left_out)
    yield from section("Not reached in the time given:", [f"- {path.stem}" for path in left])


def main() -> None:
    """Prepare every network, or race them as long as there is time and report after each."""
    made = parser(__doc__)
    made.add_argument("--keep", type=Path, required=True, help="folder for files and results")
    made.add_argument("--prepare", action="store_true", help="have everything ready, time nothing")
    made.add_argument("--minutes", type=float, default=30.0, help="for all races together")
    made.add_argument("--threads", type=int, default=1, help="of a session")
    made.add_argument("--races", type=int, default=1, help="of each network, in its time")
    made.add_argument("--only", action="append", default=[], help="networks so named, in part")
    made.add_argument("--again", action="append", default=[], help="forms to write anew")
    arguments = made.parse_args()
    keep: Path = arguments.keep.absolute()
    wanted = networks(arguments.folders, arguments.only)
    for network in wanted:
        for form in arguments.again:
            (keep / network.stem / f"{form}.onnx").unlink(missing_ok=True)
    if arguments.prepare:
        publish(section("Left out:", prepare(wanted, keep, arguments.threads)), None)
        return
    race_all(
        wanted,
        keep,
        threads=arguments.threads,
        races=arguments.races,
        minutes=arguments.minutes,
        write_to=arguments.write,
    )


if __name__ == "__main__":
    main()
