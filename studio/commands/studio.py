"""`passlens studio`: the web application, in a browser."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import threading
import time
import urllib.request
import webbrowser
from pathlib import Path
from urllib.parse import urlencode

from optimizer.errors import StudioError
from profiling.workers import default_pool
from studio.commands.models import model_path
from studio.commands.output import say
from studio.environment import FIRST_MODEL
from studio.gallery import gallery

APP = Path(__file__).parents[2] / "app.py"
PORT = 8501
SHORT_TURN_S = 0.0005


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("model", nargs="?", metavar="MODEL", help="file or sample network")
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--no-browser", action="store_true", help="serve only")


def run(arguments: argparse.Namespace) -> int:
    """Serve until interrupted.

    Raises:
        StudioError: the model does not exist.
    """
    model = _identity(arguments.model)
    os.environ[FIRST_MODEL] = model
    threading.Thread(target=_begin, args=(model,), daemon=True, name="begin").start()
    address = f"http://127.0.0.1:{arguments.port}/?{urlencode({'model': model})}"
    say(f"Passlens at {address} - stop with Ctrl+C")
    if not arguments.no_browser:
        threading.Thread(target=_open_when_up, args=(arguments.port, address), daemon=True).start()
    return _serve(arguments.port)


def _begin(model: str) -> None:
    """What takes seconds and needs nothing of the server, beside the imports of the latter."""
    default_pool().warm()  # its imports happen in a process of its own
    if gallery.find(model) is None:
        return
    # Hundreds of short array operations would each wait for their turn beside the imports.
    usual = sys.getswitchinterval()
    sys.setswitchinterval(SHORT_TURN_S)
    with contextlib.suppress(StudioError):  # told to the visitor, who asks again
        gallery.open_path(model)
    sys.setswitchinterval(usual)


def _serve(port: int) -> int:
    from streamlit.web import cli

    os.chdir(APP.parent)  # where .streamlit/config.toml is
    sys.argv = ["streamlit", "run", str(APP), "--server.port", str(port)]
    return cli.main(standalone_mode=False) or 0


def _identity(model: str | None) -> str:
    """What the studio calls the model: a sample network's id, or an absolute path."""
    if model is None or gallery.find(model) is not None:
        return model or gallery.SAMPLE
    path = model_path(model).absolute()  # a link keeps its name
    if not path.is_file():
        raise StudioError(f"'{path.name}' is not a file.")
    return str(path)


def _open_when_up(port: int, address: str) -> None:
    """Open the browser once the server answers, at most a minute later."""
    for _ in range(120):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/health", timeout=1):
                webbrowser.open(address)
                return
        except OSError:
            time.sleep(0.5)
