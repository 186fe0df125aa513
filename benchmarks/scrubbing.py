"""Stepping through a trace by key, timed inside the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from playwright.sync_api import Page

STEPS = 200

TRACE_S = 120  # until the rewrites are there
SETTLE_MS = 3000  # until what a jump set off is over

# Shadow roots are searched for the viewer, which has to have the focus to get the keys.
FOCUS = """() => {
  const find = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.tagName === "CANVAS") return element;
      const inner = element.shadowRoot && find(element.shadowRoot);
      if (inner) return inner;
    }
  };
  const canvas = find(document);
  (canvas.closest("[tabindex]") ?? canvas).focus({preventScroll: true});
}"""

# Notes when each key went down and when each step was first drawn.
WATCH = """() => {
  const watched = (window.__watched = {keys: [], drawn: {}});
  window.addEventListener("keydown", () => watched.keys.push(performance.now()), true);
  const look = () => {
    watched.drawn[window.__passlens.step] ??= performance.now();
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


@dataclass(frozen=True, slots=True)
class Scrubbing:
    """Times from key to drawn step.

    Attributes:
        milliseconds: one a step, in order.
        messages: sent to the server while stepping.
        errors: that the viewer counted.
    """

    milliseconds: Sequence[float]
    messages: int
    errors: int

    def finding(self) -> str:
        """One sentence."""
        ordered = sorted(self.milliseconds)
        p95 = ordered[int(0.95 * (len(ordered) - 1))]
        return (
            f"{len(ordered)} steps by key: median {median(ordered):.0f} ms, 95th percentile "
            f"{p95:.0f} ms, longest {ordered[-1]:.0f} ms; {self.messages} messages to the server "
            f"meanwhile, {self.errors} errors."
        )


def scrub(page: Page, messages: Sequence[int]) -> Scrubbing:
    """From the source on, press the right arrow `STEPS` times, waiting for each step's picture.

    A trace of fewer steps is gone through to its end.
    """
    page.evaluate(FOCUS)
    last = _last_step(page)
    page.keyboard.press("Home")
    page.wait_for_function("window.__passlens.step === 0", polling="raf")
    page.wait_for_timeout(SETTLE_MS)
    page.evaluate(WATCH)
    sent = messages[0]
    for step in range(1, min(STEPS, last) + 1):
        page.keyboard.press("ArrowRight")
        page.wait_for_function(f"window.__watched.drawn[{step}] !== undefined", polling="raf")
    keys, drawn = page.evaluate("[window.__watched.keys, window.__watched.drawn]")
    times = [drawn[str(step)] - pressed for step, pressed in enumerate(keys, start=1)]
    errors = page.evaluate("window.__passlens.errors.length ?? window.__passlens.errors")
    return Scrubbing(times, messages[0] - sent, int(errors))


def _last_step(page: Page) -> int:
    """The number of rewrites, once they are there."""
    for _ in range(TRACE_S):
        page.keyboard.press("End")
        page.wait_for_timeout(1000)
        if last := int(page.evaluate("window.__passlens.step")):
            return last
    raise SystemExit(f"No rewrites came within {TRACE_S} s.")
