"""What do generated kernels bring whole networks, beside the best there is without them?

    python -m benchmarks.generated ZOO... --keep FOLDER [--prepare] [--minutes M] [--threads N]*
                                   [--only NAME]* [--write FILE]

Each network, its free sizes bound: as it came, as the presets `portable` and `cpu` make it, and
as every other optimizer that is installed makes it (`benchmarks.peers`), all under ONNX Runtime's
own rewrites and without the two that are slow on a CPU, against the preset `generated`, in one
interleaved race, outputs compared first. Then kernels are left out in parts, better kernels and
fusions apart; what does not pay is taken back (`profiling.kernels.generated.settling`). Times are
shares of that of the best form without kernels, with 95 % intervals; without any kernel it is 1.00.

`--prepare` writes all files, has every kernel built, checked on its edge cases and raced alone, and
finds out which forms are one graph in the runtime or far behind: all that takes long and may share
the machine. `--minutes` is for the races that count; networks get parts of it by their size, those
that the project makes promises about first. What was found is kept in the folder as it comes, and
the report is written after each network; the same command goes on where it ended.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.generated_forms import prepared
from benchmarks.generated_table import GROUPS, Network, lines
from benchmarks.report import parser, publish, section
from optimizer.errors import StudioError
from profiling.codegen.store import code_version
from profiling.kernels.generated.network import (
    GENERATED,
    NETWORK,
    NetworkDecision,
    decide_network,
)
from profiling.workers import default_pool

_LEAST_S = 15.0
Results = Mapping[int, dict[Network, NetworkDecision]]
"""By number of threads."""


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


def find(network: Network, folder: Path, *, threads: int, seconds: float) -> NetworkDecision:
    """Race a network, and keep what was found.

    Raises:
        StudioError: it cannot be prepared, or does not run.
    """
    began = time.monotonic()
    ready = prepared(network, folder, threads=threads)
    found = decide_network(
        [form.rival(folder, threads) for form in ready.forms],
        folder / f"{GENERATED}.onnx",
        ready.kernels,
        model=network.name,
        sizes={},
        threads=threads,
        seconds=max(_LEAST_S, seconds - (time.monotonic() - began)),
        pool=default_pool(),
        folder=folder,
    )
    _kept(folder, threads).write_bytes(NETWORK.dumps(found))
    return found


def found_before(folder: Path, threads: int) -> NetworkDecision | None:
    """What is kept of a network, by this version."""
    file = _kept(folder, threads)
    return NETWORK.loads(file.read_bytes()) if file.exists() else None


def _kept(folder: Path, threads: int) -> Path:
    return folder / f"found-{threads}-{code_version()[:8]}.json"


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
    results: Results = {count: {} for count in counts}
    left: list[tuple[Network, int]] = []
    for network, count in _in_order(wanted, counts):
        before = found_before(keep / network.name, count)
        if before is None:
            left.append((network, count))
        else:
            results[count][network] = before
    while left and time.monotonic() < ends - _LEAST_S:
        share = left[0][0].wants / sum(network.wants for network, _ in left)
        seconds = max(_LEAST_S, share * (ends - time.monotonic()))
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


def prepare(wanted: Sequence[Network], counts: Sequence[int], keep: Path) -> list[str]:
    """Have everything ready; a line for each network that cannot be."""
    left_out: list[str] = []
    for network, count in _in_order(wanted, counts):
        began = time.monotonic()
        try:
            ready = prepared(network, keep / network.name, threads=count)
        except StudioError as error:
            left_out.append(f"- {network.name}, {count}: {error.message}")
            continue
        tried = [one for one in ready.kernels if not one.refusal]
        rivals = ", ".join(" = ".join([one.label, *one.same]) for one in ready.forms)
        print(
            f"{network.name}, {count}: {len(tried)} of {len(ready.kernels)} kernels to try, "
            f"against {rivals} ({time.monotonic() - began:.0f} s)",
            file=sys.stderr,
            flush=True,
        )
        for told in ready.slower:
            print(f"  not raced: {told}", file=sys.stderr, flush=True)
        for one in ready.kernels:
            print(f"  {one.text}: {one.refusal or 'to try'}", file=sys.stderr, flush=True)
    return left_out


def _in_order(wanted: Sequence[Network], counts: Sequence[int]) -> list[tuple[Network, int]]:
    """Networks of promises under every number of threads, then all others."""
    promised = [(one, count) for count in counts for one in wanted if one.group]
    return [*promised, *((one, count) for count in counts for one in wanted if not one.group)]


def _names(left: Sequence[tuple[Network, int]]) -> list[str]:
    return [f"{network.name}, {count}" for network, count in left]


def main() -> None:
    """Prepare every network, or race them as long as there is time and report after each."""
    made = parser(__doc__)
    made.add_argument("--keep", type=Path, required=True, help="folder for files and results")
    made.add_argument("--prepare", action="store_true", help="have everything ready, time nothing")
    made.add_argument("--minutes", type=float, default=15.0, help="for all races together")
    made.add_argument("--threads", type=int, action="append", help="one row for each; 1")
    made.add_argument(
        "--only", action="append", default=[], help="networks with this in their name"
    )
    arguments = made.parse_args()
    wanted = networks(arguments.folders, arguments.only)
    keep: Path = arguments.keep.absolute()
    keep.mkdir(parents=True, exist_ok=True)
    counts: list[int] = arguments.threads or [1]
    if arguments.prepare:
        publish(section("Left out:", prepare(wanted, counts, keep)), None)
        return
    raced(wanted, counts, keep, minutes=arguments.minutes, write_to=arguments.write)


if __name__ == "__main__":
    main()
