"""Options every test may ask for, and the one browser that all of them share."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from optimizer.collection import collection_paused

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from xdist.remote import Producer
    from xdist.scheduler import Scheduling

    from profiling.workers import WorkerPool

# Before any test imports ONNX Runtime, which from 1.29 on reports usage to its maker.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

# What tests measure does not belong among a person's own recordings.
_RECORDINGS = tempfile.TemporaryDirectory(prefix="passlens-recordings-")
atexit.register(_RECORDINGS.cleanup)
os.environ["PASSLENS_DATABASE_URL"] = f"sqlite:///{_RECORDINGS.name}/records.sqlite"

pytest_plugins = ["tests.postgresql"]

# On a busy machine everything is slow now and then: no test fails for that.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

_STUDIO = Path(__file__).parent / "studio"

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--process-per-site",  # what one page has compiled of Streamlit, the next one need not
    # A page lives for seconds: making its code faster takes longer than faster code saves.
    "--js-flags=--no-opt,--no-maglev",
    # A script that is streamed is compiled anew, though its page's process has it. Chromium takes
    # the last of such lists: of Playwright's own, what is about pages and requests.
    "--disable-features=ScriptStreaming,AvoidCorsURLLoaderRestartOnRedirect,"
    "AvoidUnnecessaryBeforeUnloadCheckSync,HttpsFirstBalancedModeAutoEnable,HttpsUpgrades,PaintHolding",
]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the golden files")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Ten thousand tests stay: Python's collector need not look for garbage among them.

    It takes a third of the time in which they are collected, and half a second whenever it goes
    through all that is there.
    """
    with collection_paused():
        collected = yield
    gc.collect()
    gc.freeze()
    return collected


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever uses the browser bears its mark, so that it can be left out, and comes first.

    Its files are few and long: at the end of a parallel run one process would be left with them.
    The next longest are those of pages and commands that race, the studio's others.
    """
    for item in items:
        if isinstance(item, pytest.Function) and "browser" in item.fixturenames:
            item.add_marker(pytest.mark.browser)
    first = {item.path for item in items if item.get_closest_marker("browser")}
    items.sort(key=lambda item: (item.path not in first, _STUDIO not in item.path.parents))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    """By file, but one process has all files that need a studio, and one all of the viewer."""
    if config.getoption("dist") != "loadfile":
        return None
    from tests.servers import ByServer

    return ByServer(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """On how many random graphs passes fired: the three rarest."""
    reports = terminalreporter.getreports("passed")
    told = [
        value for report in reports for name, value in report.user_properties if name == "fired"
    ]
    for _, tally in sorted(told)[:3]:
        terminalreporter.write_line(tally)


@pytest.fixture(scope="session")
def shared_pool() -> Iterator[WorkerPool]:
    """The worker processes of all tests that need no pool of their own."""
    from profiling.workers import WorkerPool  # with it come numpy and onnx

    pool = WorkerPool(size=2)
    yield pool
    pool.close()


@pytest.fixture(scope="session")
def browser() -> Generator[Browser]:
    """One Chromium for all tests: Playwright allows one driver a process."""
    names = ("chromium-headless-shell", "chromium")
    executable = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if executable is None:
        pytest.skip("no Chromium on this machine")
    from playwright.sync_api import expect, sync_playwright  # not where only a GPU is tested

    from tests.studio.browsing import PATIENCE_MS

    expect.set_options(timeout=PATIENCE_MS)  # not Playwright's 5 s
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield chromium
        chromium.close()
