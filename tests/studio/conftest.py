"""The real app on a free port, and a real browser."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page

from profiling.workers import WorkerPool
from studio import services
from tests.studio.browsing import visitor

ROOT = Path(__file__).parents[2]
STARTUP_S = 180
MAIN = sys.modules["__main__"]
# Drawn in software, Streamlit's pulsating grey boxes take more of the processor than the page
# that they wait for.
HOLD_STILL = """addEventListener("DOMContentLoaded", () => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("[data-testid=stSkeleton] { animation: none !important }");
  document.adoptedStyleSheets.push(sheet);
});"""


@dataclass(frozen=True, slots=True)
class RunningStudio:
    """A studio of our own, with an empty cache."""

    url: str
    pid: int
    cache: Path

    def race_workers(self) -> list[int]:
        """The processes in which variants of a race run now."""
        return [
            pid
            for pid in _descendants(self.pid)
            if b"profiling.workers.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
        ]


def _descendants(pid: int) -> list[int]:
    listing = subprocess.run(
        ["/bin/ps", "--ppid", str(pid), "-o", "pid="], capture_output=True, text=True, check=False
    )
    children = [int(line) for line in listing.stdout.split()]
    return children + [inner for child in children for inner in _descendants(child)]


@contextmanager
def running_studio(cache: Path) -> Generator[RunningStudio]:
    """The real app on a free port; what it says ends up in `server.log` in its cache."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = (cache / "server.log").open("w")
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)],
        cwd=ROOT,
        env={**os.environ, "PASSLENS_CACHE": str(cache)},
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(url)
        yield RunningStudio(url, server.pid, cache)
    finally:
        server.terminate()
        server.wait(20)
        log.close()


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStudio]:
    """The studio that the browser tests share."""
    with running_studio(tmp_path_factory.mktemp("cache")) as running:
        yield running


@pytest.fixture(scope="session")
def app_url(studio: RunningStudio) -> str:
    """Its address."""
    return studio.url


def _wait(url: str) -> None:
    deadline = time.monotonic() + STARTUP_S
    while True:
        try:
            with urllib.request.urlopen(f"{url}/api/health", timeout=2):  # noqa: S310 - our own address
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


@pytest.fixture(scope="session")
def profile(browser: Browser) -> Iterator[BrowserContext]:
    """What the browser has fetched and compiled of Streamlit and Plotly, once for all tests."""
    fetched = visitor(browser, viewport={"width": 1440, "height": 900})
    fetched.add_init_script(HOLD_STILL)
    yield fetched
    fetched.close()


@pytest.fixture(scope="session")
def caretaker(profile: BrowserContext) -> CDPSession:
    """Who clears up after each visitor, from a blank page that stays.

    It is of the studio's site, whose process therefore stays, too, with all that it has compiled.
    """
    blank = profile.new_page()
    blank.route("**", lambda route: route.fulfill(content_type="text/html"))
    blank.goto("http://127.0.0.1/")
    return profile.new_cdp_session(blank)


@pytest.fixture
def context(profile: BrowserContext, caretaker: CDPSession) -> Iterator[BrowserContext]:
    """A visitor of their own, who has been here before: without pages, storage and permissions."""
    yield profile
    _, *opened = profile.pages
    for page in opened:
        page.close()
    profile.clear_permissions()
    cleared = {"origin": "*", "storageTypes": "cookies,local_storage,indexeddb"}
    caretaker.send("Storage.clearDataForOrigin", cleared)


@pytest.fixture(autouse=True)
def main_module() -> Iterator[None]:
    """What Streamlit's own tests put in its place is no script that a spawned process can begin."""
    yield
    sys.modules["__main__"] = MAIN


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A page of that visitor's."""
    return context.new_page()


@pytest.fixture(scope="module")
def own_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A store and tasks that no other module of tests has seen."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PASSLENS_CACHE", str(tmp_path_factory.mktemp("cache")))
        for service in (services.store, services.tasks):
            service.cache_clear()
        yield
    for service in (services.store, services.tasks):
        service.cache_clear()


@pytest.fixture(scope="session")
def pool(shared_pool: WorkerPool) -> WorkerPool:
    """Worker processes that need not be a test's own."""
    return shared_pool
