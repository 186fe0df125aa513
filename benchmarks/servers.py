"""The viewers under comparison, each as a server that shows one model."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from studio import gallery

START_TIMEOUT_S = 60
NETRON_DRAWN = (
    "document.body?.classList.contains('default')"
    " && document.querySelectorAll('#canvas .node, #target .node').length > 0"
)
STUDIO_DRAWN = "window.__passlens?.ready"


@dataclass(frozen=True, slots=True)
class Server:
    """A running viewer.

    Attributes:
        name: of the viewer.
        url: the page that shows the model.
        drawn: a JavaScript expression that is true once the graph is drawn.
        cookie: of consent, so that no dialog is in the way.
        pid: of its process.
        starting: seconds from its command to its first answer.
    """

    name: str
    url: str
    drawn: str
    cookie: str = ""
    pid: int = 0
    starting: float = 0


@contextmanager
def netron(model: Path) -> Generator[Server]:
    """Netron on `model`."""
    program = os.environ.get("NETRON") or shutil.which("netron")
    if program is None:
        raise SystemExit("Netron is not installed; see benchmarks/README.md, or set NETRON.")
    port = _free_port()
    command = [program, str(model), "--port", str(port), "--host", "127.0.0.1"]
    with _running([*command, "--verbosity", "quiet"], {}, f"http://127.0.0.1:{port}/") as (
        url,
        pid,
        starting,
    ):
        yield Server("netron", url, NETRON_DRAWN, cookie="consent", pid=pid, starting=starting)


@contextmanager
def empty_page() -> Generator[Server]:
    """A page with nothing in it: what the browser takes for itself."""
    port = _free_port()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"]
        command += ["--directory", folder]
        with _running(command, {}, f"http://127.0.0.1:{port}/") as (url, pid, starting):
            yield Server("empty", url, "true", pid=pid, starting=starting)


@contextmanager
def studio(model: Path, checkout: Path | None = None) -> Generator[Server]:
    """The studio on `model`; a sample network is asked for by its id, as a link would.

    Args:
        model: the file.
        checkout: a folder with the studio of another commit; this one by default.
    """
    asked = model.stem if gallery.find(model.stem) else str(model)
    port = _free_port()
    command = [sys.executable, "-m", "studio.cli", "studio", "--no-browser", "--port", str(port)]
    with tempfile.TemporaryDirectory() as cache:
        environment = {"PASSLENS_CACHE": cache}
        if checkout is not None:
            environment["PYTHONPATH"] = str(checkout.resolve())
        address = f"http://127.0.0.1:{port}/"
        health = f"{address}api/health"  # asking for the page would open a model
        with _running(command, environment, health, folder=checkout) as (_, pid, starting):
            page = f"{address}?{urlencode({'model': asked, 'step': 0})}"
            yield Server("studio", page, STUDIO_DRAWN, pid=pid, starting=starting)


@contextmanager
def _running(
    command: Sequence[str],
    environment: Mapping[str, str],
    url: str,
    *,
    folder: Path | None = None,
) -> Generator[tuple[str, int, float]]:
    """Run `command` until the block ends; begin the block when `url` answers.

    The block gets the address, the process, and how long the answer took in seconds.
    """
    started = time.perf_counter()
    with subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
        cwd=folder,
    ) as process:
        try:
            _wait_for(url, process)
            yield url, process.pid, time.perf_counter() - started
        finally:
            process.terminate()


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2):  # noqa: S310 -- our own address
                return
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"{process.args!r} did not start.")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
