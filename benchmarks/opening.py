"""What opening a model costs: this studio, the studio of an earlier commit, and Netron, in turns.

    python -m benchmarks.opening --before FOLDER [--repeat N] [--output FILE]

`FOLDER` is a checkout of the earlier commit (`git worktree add FOLDER COMMIT`); it runs with the
same libraries. Every opening happens in a fresh context of one Chromium. Wall clock and processor
time (browser and server, user and system) run from navigation to the drawn graph; `settled` is the
processor time until two seconds after, when Streamlit has arrived as well. The very first visit is
the opening as soon as a server, alone on the machine, answers; what that server took from its
command to the answer stands beside it. An empty page says what Chromium itself takes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import onnx_ir as ir
from playwright.sync_api import Browser, Error, sync_playwright

from benchmarks.machine import describe
from benchmarks.servers import Server, empty_page, netron, studio
from benchmarks.transformer import build
from benchmarks.viewers import FLAGS, KEEP_EVAL, VIEWPORT, chromium
from studio import gallery

TIMEOUT_MS = 120_000
SETTLE_MS = 2000
FIRST_VISITS = 3
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Opening:
    """One opening, in seconds.

    Attributes:
        wall: from navigation to the drawn graph.
        cpu: processor time of browser and server in that span.
        settled: processor time until two seconds after it.
    """

    wall: float
    cpu: float
    settled: float


def cpu_seconds(*roots: int) -> float:
    """Processor time of processes, of those below them, and of those of them that have ended."""
    listing = subprocess.run(
        ["/bin/ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True
    ).stdout.split()
    parents = dict(zip(map(int, listing[::2]), map(int, listing[1::2]), strict=True))
    chosen = set(roots)
    while more := {pid for pid, parent in parents.items() if parent in chosen} - chosen:
        chosen |= more
    return sum(map(_ticks, chosen)) / TICKS


def _ticks(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(int(field) for field in fields[11:15])


def open_once(browser: Browser, server: Server) -> Opening | None:
    """Open the server's page in a fresh context; None where no picture comes."""
    context = browser.new_context(viewport=VIEWPORT, bypass_csp=True)
    if server.cookie:
        context.add_cookies([{"name": server.cookie, "value": "1", "url": server.url}])
    context.add_init_script(KEEP_EVAL)
    page = context.new_page()
    processes = (_browser_process(), server.pid)
    before, started = cpu_seconds(*processes), time.perf_counter()
    try:
        page.goto(server.url, wait_until="commit", timeout=TIMEOUT_MS)
        page.wait_for_function(server.drawn, timeout=TIMEOUT_MS, polling="raf")
        page.evaluate("new Promise(drawn => requestAnimationFrame(drawn))")
        wall, cpu = time.perf_counter() - started, cpu_seconds(*processes) - before
        page.wait_for_timeout(SETTLE_MS)
        return Opening(wall, cpu, cpu_seconds(*processes) - before)
    except Error:
        return None
    finally:
        context.close()


def _browser_process() -> int:
    """Chromium and Playwright's driver are all that this process has started beside the servers."""
    for pid in Path("/proc").glob("[0-9]*"):
        try:
            words = (pid / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        mine = b"--type=" not in b"".join(words) and b"chrom" in words[0]
        if mine and os.getpid() in _ancestors(int(pid.name)):
            return int(pid.name)
    raise SystemExit("No Chromium was found below this process.")


def _ancestors(pid: int) -> Generator[int]:
    while pid > 1:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        pid = int(fields[1])
        yield pid


@dataclass(frozen=True, slots=True)
class FirstVisit:
    """The first opening, as soon as a server answers.

    Attributes:
        opening: itself.
        start_wall: seconds from the server's command to its answer.
        start_cpu: the server's processor time in that span.
    """

    opening: Opening
    start_wall: float
    start_cpu: float


Start = Callable[[], AbstractContextManager[Server]]


def measure(browser: Browser, model: Path, before: Path, *, repeat: int) -> list[str]:
    """Rows for one model: first visits, each to a server alone; then all servers in turns."""
    starts: dict[str, Start] = {
        "an empty page": empty_page,
        "Netron": partial(netron, model),
        "before": partial(studio, model, before),
        "now": partial(studio, model),
    }
    firsts: dict[str, list[FirstVisit]] = {name: [] for name in starts}
    for _ in range(FIRST_VISITS):
        for name, start in starts.items():
            firsts[name] += _first_visit(browser, start, f"{model.stem}: {name}")
    later: dict[str, list[Opening]] = {name: [] for name in starts}
    with ExitStack() as stack:
        found = {name: stack.enter_context(start()) for name, start in starts.items()}
        for server in found.values():
            open_once(browser, server)
        for _ in range(repeat):
            for name, server in found.items():
                later[name] += _opening(browser, server, f"{model.stem}: {name}")
    return [_row(model.stem, name, later[name], firsts[name]) for name in starts]


def _first_visit(browser: Browser, start: Start, what: str) -> list[FirstVisit]:
    with start() as server:
        cpu = cpu_seconds(server.pid)
        found = _opening(browser, server, f"{what}, first visit")
        return [FirstVisit(opening, server.starting, cpu) for opening in found]


def _opening(browser: Browser, server: Server, what: str) -> list[Opening]:
    opening = open_once(browser, server)
    print(f"{what}: {opening}", file=sys.stderr)
    return [] if opening is None else [opening]


def _row(model: str, viewer: str, later: Sequence[Opening], firsts: Sequence[FirstVisit]) -> str:
    if not later or not firsts:
        return f"| {model} | {viewer} | no picture | | | | | | |"
    figures = [median(o.wall for o in later), median(o.cpu for o in later)]
    figures += [median(o.settled for o in later)]
    figures += [median(f.opening.wall for f in firsts), median(f.opening.cpu for f in firsts)]
    figures += [median(f.start_wall for f in firsts), median(f.start_cpu for f in firsts)]
    return f"| {model} | {viewer} | " + " | ".join(f"{figure:.2f}" for figure in figures) + " |"


def main(arguments: Sequence[str]) -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.opening")
    parser.add_argument("--before", type=Path, required=True, help="checkout of another commit")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--nodes", type=int, default=3000, help="of the transformer; 0: none")
    parser.add_argument("--output", type=Path, help="also write the table to this file")
    options = parser.parse_args(arguments)
    rows = [
        "| model | viewer | wall s | CPU s | CPU s, settled | first visit: wall s | CPU s "
        "| server's start: wall s | CPU s |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        models = [gallery.open_path("resnet50")]
        if options.nodes:
            models.append(Path(folder) / f"transformer_{options.nodes}.onnx")
            ir.save(build(options.nodes), models[-1])
        for model in models:
            rows += measure(browser, model, options.before, repeat=options.repeat)
        machine = f"{describe('passlens', 'streamlit')}, Chromium {browser.version}"
        browser.close()
    load = ", ".join(f"{one:.0f}" for one in os.getloadavg())
    table = "\n".join([f"{machine}; load of the machine {load}", "", *rows, ""])
    print(table)
    if options.output:
        options.output.write_text(table)


if __name__ == "__main__":
    main(sys.argv[1:])
