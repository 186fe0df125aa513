"""What opening a model costs: this studio, the studio of an earlier commit, and Netron, in turns.

    python -m benchmarks.opening --before FOLDER [--repeat N] [--output FILE]

`FOLDER` is a checkout of the earlier commit (`git worktree add FOLDER COMMIT`); it runs with the
same libraries. Every opening happens in a fresh context of one Chromium. Wall clock and processor
time (browser and server, user and system) run from navigation to the drawn graph; `settled` is the
processor time until two seconds after, when Streamlit has arrived as well. The first opening, as
soon as a server answers, counts as the very first visit; what the server took from its command to
that answer stands beside it. An empty page says what Chromium itself takes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
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


def measure(browser: Browser, model: Path, before: Path, *, repeat: int) -> list[str]:
    """Rows for one model: each server is visited as soon as it answers, then all in turns."""
    starts = {
        "an empty page": empty_page(),
        "Netron": netron(model),
        "before": studio(model, before),
        "now": studio(model),
    }
    runs: dict[str, list[Opening]] = {name: [] for name in starts}
    starting: dict[str, tuple[float, float]] = {}
    with ExitStack() as stack:
        found: dict[str, Server] = {}
        for name, server in starts.items():
            found[name] = stack.enter_context(server)
            starting[name] = found[name].starting, cpu_seconds(found[name].pid)
            _open_and_tell(browser, found[name], runs[name], f"{model.stem}: {name}")
        for _ in range(repeat):
            for name, server in found.items():
                _open_and_tell(browser, server, runs[name], f"{model.stem}: {name}")
    return [_row(model.stem, name, runs[name], starting[name]) for name in starts]


def _open_and_tell(browser: Browser, server: Server, runs: list[Opening], what: str) -> None:
    opening = open_once(browser, server)
    print(f"{what}: {opening}", file=sys.stderr)
    if opening is not None:
        runs.append(opening)


def _row(
    model: str, viewer: str, openings: Sequence[Opening], starting: tuple[float, float]
) -> str:
    """Of the table; `starting` is wall clock and processor time until the server answered."""
    if len(openings) < 2:
        return f"| {model} | {viewer} | no picture | | | | | | |"
    first, later = openings[0], openings[1:]
    figures = [median(o.wall for o in later), median(o.cpu for o in later)]
    figures += [median(o.settled for o in later), first.wall, first.cpu, *starting]
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
