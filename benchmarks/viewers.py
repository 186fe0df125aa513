"""From a click to a picture, and from a key to the next step: the studio beside Netron.

    python -m benchmarks.viewers [--repeat N] [--nodes N] [--json FILE]

Opens the gallery's ResNet-50 and a transformer of 10,000 nodes in both, taking turns, each time in
a fresh context of one Chromium, and measures the wall clock from navigation to the drawn graph.
Then steps 200 times through the rewrites of the transformer by the arrow key: the time from the
key to the drawn step, and the messages that went to the server meanwhile.

`NETRON` names Netron's executable, `CHROMIUM` the browser; by default both are searched for.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import onnx_ir as ir
from playwright.sync_api import Browser, Error, ViewportSize, sync_playwright

from benchmarks.machine import describe
from benchmarks.scrubbing import Scrubbing, scrub
from benchmarks.servers import Server, netron, studio
from benchmarks.transformer import build
from studio import gallery

OPEN_TIMEOUT_S = 200
VIEWPORT = ViewportSize(width=1500, height=950)
# Netron takes `eval` away from its page, and the browser's driver waits by means of it.
KEEP_EVAL = """
const kept = window.eval;
Object.defineProperty(window, "eval", {get: () => kept, set: () => {}});
"""
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


@dataclass(frozen=True, slots=True)
class Opening:
    """One opening of one model in one viewer; `seconds` is None where no picture came, and why."""

    viewer: str
    model: str
    seconds: float | None
    failure: str = ""


def open_once(browser: Browser, server: Server, model: str) -> Opening:
    """Navigate to the model in a fresh context and wait until it is drawn."""
    context = browser.new_context(viewport=VIEWPORT, bypass_csp=True)
    if server.cookie:
        context.add_cookies([{"name": server.cookie, "value": "1", "url": server.url}])
    context.add_init_script(KEEP_EVAL)
    page = context.new_page()
    started = time.perf_counter()
    try:
        page.goto(server.url, wait_until="commit", timeout=OPEN_TIMEOUT_S * 1000)
        page.wait_for_function(server.drawn, timeout=OPEN_TIMEOUT_S * 1000, polling="raf")
        page.evaluate("new Promise(drawn => requestAnimationFrame(drawn))")
        return Opening(server.name, model, time.perf_counter() - started)
    except Error as error:
        return Opening(server.name, model, None, error.message.splitlines()[0])
    finally:
        context.close()


def open_in_turns(browser: Browser, model: Path, *, repeat: int) -> list[Opening]:
    """The model in Netron and in the studio, alternating; a viewer that fails once is left."""
    openings: list[Opening] = []
    with netron(model) as one, studio(model) as other:
        failed: set[str] = set()
        for _ in range(repeat):
            for server in (one, other):
                if server.name in failed:
                    continue
                opening = open_once(browser, server, model.stem)
                print(f"{opening}", file=sys.stderr)
                openings.append(opening)
                if opening.seconds is None:
                    failed.add(server.name)
    return openings


def scrub_in_studio(browser: Browser, model: Path) -> Scrubbing:
    """Step through the rewrites of the model in a page of its own."""
    with studio(model) as server:
        page = browser.new_page(viewport=VIEWPORT)
        messages = [0]
        page.on("websocket", lambda socket: socket.on("framesent", lambda _: _count(messages)))
        page.goto(server.url)
        page.wait_for_function(server.drawn, timeout=OPEN_TIMEOUT_S * 1000)
        try:
            return scrub(page, messages)
        finally:
            page.close()


def _count(messages: list[int]) -> None:
    messages[0] += 1


def report(openings: Sequence[Opening], scrubbing: Scrubbing | None) -> str:
    """The findings as text, medians with every single time behind them."""
    lines = ["| model | viewer | median s | all runs |", "|---|---|--:|---|"]
    for model in dict.fromkeys(opening.model for opening in openings):
        for viewer in ("netron", "studio"):
            runs = [o.seconds for o in openings if (o.model, o.viewer) == (model, viewer)]
            times = [seconds for seconds in runs if seconds is not None]
            middle = f"{median(times):.2f}" if times else "no picture"
            lines.append(f"| {model} | {viewer} | {middle} | {', '.join(map(_short, runs))} |")
    if scrubbing is not None:
        lines += ["", scrubbing.finding()]
    return "\n".join(lines)


def _short(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds:.2f}"


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.viewers")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--nodes", type=int, default=10_000, help="of the transformer")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        large = Path(folder) / f"transformer_{options.nodes}.onnx"
        ir.save(build(options.nodes), large)
        openings = open_in_turns(browser, gallery.open_path("resnet50"), repeat=options.repeat)
        openings += open_in_turns(browser, large, repeat=options.repeat)
        scrubbing = scrub_in_studio(browser, large)
        print(f"{describe('passlens', 'streamlit', 'netron')}, Chromium {browser.version}\n")
        browser.close()
    print(report(openings, scrubbing))
    if options.json:
        figures = {"openings": [asdict(o) for o in openings], "scrubbing": asdict(scrubbing)}
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


def chromium() -> str | None:
    """The browser to measure in: one with windows, as people have, before one without."""
    names = (
        "chromium", "chromium-browser", "google-chrome-stable", "google-chrome",
        "chromium-headless-shell",
    )  # fmt: skip
    found = (shutil.which(name) for name in names)
    return os.environ.get("CHROMIUM") or next(filter(None, found), None)


if __name__ == "__main__":
    main(sys.argv[1:])
