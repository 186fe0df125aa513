"""Look inside: what is sent to the browser, what is said where there is none, and the browser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from optimizer.errors import Cancelled, StudioError, WorkerCrashed, WorkerTimeout
from optimizer.loops.schedule import (
    GpuBlocks,
    GpuThreads,
    Schedule,
    ScheduleError,
    Split,
    Unroll,
)
from optimizer.schedules.examples import EXAMPLES
from profiling.codegen.triton_candidate import triton_missing
from studio.schedule import code_job
from studio.schedule.code_job import Json, code_task, difference_task, gpu_task
from studio.schedule.opened import OpenedSchedule
from studio.tasks import Task, Tasks
from tests.studio.browsing import PATIENCE_MS, POLLING_MS

pytestmark = pytest.mark.long

needs_halide = pytest.mark.skipif(find_spec("halide") is None, reason="needs Halide")


def opened(example: str, name: str, *first: Split) -> OpenedSchedule:
    one = EXAMPLES[example]
    schedules = {known.name: known.schedule for known in one.schedules}
    schedule = Schedule((*first, *schedules[name].primitives))
    return OpenedSchedule(one.id, one.title, one.algorithm, schedules, name, schedule)


@pytest.fixture(autouse=True)
def own_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = Tasks()
    monkeypatch.setattr(code_job, "tasks", lambda: mine)


def ended(task: Task[Json]) -> Json:
    assert task.wait(PATIENCE_MS / 1000)
    if task.error is not None:
        raise task.error
    assert task.result is not None
    return task.result


@needs_halide
def test_every_line_has_its_nodes_and_marks() -> None:
    found = ended(code_task(opened("blur", "tiled")))
    assert [level["id"] for level in found["levels"]] == ["nest", "stmt", "c", "llvm", "asm"]
    for level in found["levels"]:
        assert len(level["texts"]) == len(level["nodes"]) == len(level["marks"])
        assert not any("\t" in text for text in level["texts"])
    assert len(found["depths"]) == len(found["names"]) == len(found["levels"][0]["texts"])


@needs_halide
def test_a_primitive_that_cannot_be_applied_is_left_out_and_the_rest_compiled() -> None:
    wrong = Split("blur_y", "z", "zo", "zi", 8)
    found = ended(code_task(opened("blur", "tiled", wrong)))
    assert found["leftOut"] == 1
    assert found["levels"] == ended(code_task(opened("blur", "tiled")))["levels"]


@needs_halide
def test_a_schedule_for_a_gpu_is_shown_as_statements_and_ptx() -> None:
    on_gpu = Schedule((GpuBlocks("blur_y", "y"), GpuThreads("blur_y", "x")))
    found = ended(code_task(replace(opened("blur", "tiled"), schedule=on_gpu)))
    assert [level["id"] for level in found["levels"]] == ["nest", "stmt", "ptx"]
    assert found["processor"] == "sm_80, by Halide"


@pytest.mark.skipif(not triton_missing(), reason="Triton is installed")
def test_without_triton_its_program_is_there_and_a_sentence_says_what_to_install() -> None:
    found = ended(gpu_task(opened("softmax", "rows in vectors")))
    assert found["missing"] == "Triton is not installed: pip install passlens[triton]."
    (level,) = found["levels"]
    assert "def kernel0(in0, out0):" in level["texts"]
    assert level["nodes"] == [[line] for line in range(len(level["texts"]))]


@needs_halide
def test_two_steps_are_compared_at_all_levels() -> None:
    found = ended(difference_task(opened("blur", "tiled and vectorized"), (5, 9)))
    changed = {level["id"]: level["changed"] for level in found["levels"]}
    assert all(changed[level] > 0 for level in ("stmt", "c", "llvm", "asm"))
    for level in found["levels"]:
        assert sum(row[1] >= 0 for row in level["rows"]) == len(level["before"])
        assert sum(row[2] >= 0 for row in level["rows"]) == len(level["after"])


def failing(error: StudioError) -> Callable[[], Callable[..., Any]]:
    def pool() -> Callable[..., Any]:
        def run(*args: object, **options: object) -> Any:
            raise error

        return run

    return pool


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            WorkerCrashed("The worker died.", signal_name="SIGSEGV"),
            "This schedule cannot be compiled: The worker died.",
        ),
        (Cancelled("Cancelled."), "Cancelled."),
        (ScheduleError(3, "it is too long"), "This schedule cannot be compiled: it is too long."),
    ],
)
def test_code_that_cannot_be_made_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, error: StudioError, told: str
) -> None:
    monkeypatch.setattr(code_job, "pool", failing(error))
    with pytest.raises(StudioError) as raised:
        ended(code_task(opened("blur", "tiled")))
    assert raised.value.message == told


def test_triton_that_is_stopped_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    class Pool:
        def run_fresh(self, *args: object, **options: object) -> Any:
            raise WorkerTimeout("Stopped after 120 s.")

    monkeypatch.setattr(code_job, "pool", Pool)
    with pytest.raises(StudioError) as raised:
        ended(gpu_task(opened("softmax", "rows in vectors")))
    told = "This algorithm cannot be compiled for a GPU: Stopped after 120 s."
    assert raised.value.message == told


def test_code_that_would_be_too_long_is_refused_before_it_is_compiled() -> None:
    one = opened("blur", "tiled")
    huge = Schedule((Unroll("blur_y", "x"), Unroll("blur_y", "y")))
    with pytest.raises(StudioError, match="cannot be compiled: its loops written out are"):
        ended(code_task(replace(one, schedule=huge)))


def seen(page: Page, condition: str) -> dict[str, Any]:
    """Wait for what the section says of itself."""
    page.wait_for_function(
        f"(code => code && ({condition}))(window.__passlens_code)",
        polling=POLLING_MS,
        timeout=PATIENCE_MS,
    )
    return page.evaluate("window.__passlens_code")


def lit_in_sight(page: Page, level: str) -> bool:
    """Whether a column shows the first line that is lit; the page may be scrolled elsewhere."""
    return page.locator(f"[data-level={level}] .cl-lit").first.evaluate(
        """line => {
      const list = line.closest("[role=listbox]");
      const [inner, outer] = [line, list].map((e) => e.getBoundingClientRect());
      return inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
    }"""
    )


@needs_halide
@pytest.mark.browser
def test_a_line_that_is_looked_at_lights_its_loop_in_every_column(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/schedule?loops=blur&order=tiled")
    page.get_by_role("button", name="Compile").click()
    seen(page, "code.kind === 'code'")
    for column in ("C++", "LLVM IR"):
        page.get_by_role("button", name=column).click()
    page.locator("[data-level=nest] .cl-line", has_text="for xi in 32").hover()
    found = seen(page, "code.nodes.length === 1")
    assert set(found["lit"]) == {"nest", "stmt", "c", "llvm", "asm"}
    assert all(found["lit"].values())
    assert lit_in_sight(page, "asm")
    expect(page.locator("[data-level=c] .cl-lit").first).to_contain_text("_blur_y_s0_x_xi")

    page.locator("[data-level=asm] .cl-lit", has_text="vaddss").first.click()
    pinned = seen(page, "code.pinned")
    page.locator("[data-level=nest] .cl-line").first.hover()
    assert seen(page, "true")["nodes"] == pinned["nodes"], "what is pinned stays"
    page.keyboard.press("Escape")
    seen(page, "!code.pinned")
    page.keyboard.press("Home")
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("listbox", name="Loop nest")).to_be_focused()
    page.keyboard.press("Home")
    for _ in range(8):
        page.keyboard.press("ArrowDown")
    walked = seen(page, "code.said.startsWith('for xi in 32')")
    assert walked["nodes"] == pinned["nodes"]

    page.get_by_text("Difference of two steps").click()
    found = seen(page, "code.kind === 'difference'")
    assert found["steps"] == [4, 5]
    assert found["changed"]["asm"] > 0
    page.get_by_role("button", name="Next change").click()
    assert seen(page, "code.at === 0")["level"] == "asm"
    expect(page.locator(".cl-row.cl-here")).to_be_in_viewport()


@pytest.mark.browser
def test_the_same_algorithm_for_a_gpu_is_one_click_away_and_says_what_is_missing(
    page: Page, app_url: str
) -> None:
    page.goto(f"{app_url}/schedule?loops=softmax")
    page.get_by_role("button", name="Compile").click()
    page.get_by_text("GPU, by Triton").click()
    found = seen(page, "code.kind === 'gpu'")
    assert found["levels"][0] == "triton"
    if missing := triton_missing():
        expect(page.get_by_text(missing)).to_be_visible()
    line = page.locator("[data-level=triton] .cl-line", has_text="tl.store(")
    line.scroll_into_view_if_needed()
    line.hover()
    found = seen(page, "code.nodes.length === 1")
    assert all(count > 0 for count in found["lit"].values()), "lines of the store at every level"
    assert "tl.store(" in found["said"]
    page.get_by_text("CPU", exact=True).click()
    assert seen(page, "code.kind === 'code'")["levels"][0] == "nest"
