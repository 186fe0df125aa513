"""Parts of a page that are drawn again by themselves, in Streamlit's own runtime."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime, RuntimeConfig
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

PATIENCE_S = 60
Result = TypeVar("Result")
PAGES = """
import time
from pathlib import Path

import streamlit as st
from studio.page.parts import draw_every, end_parts

def first():
    draw_every(1000, lambda: None)

def second():
    st.text("second")
    while not Path("FLAG").exists():
        time.sleep(0.01)

end_parts()
st.navigation([st.Page(first, default=True), st.Page(second)]).run()
"""
PAGE = """
import streamlit as st
from studio.page.parts import draw_every

st.session_state["runs"] = st.session_state.get("runs", 0) + 1
st.text(f"run {st.session_state['runs']}")
draw_every(1000, lambda: None)
"""


class Browser:
    """What a browser is told, and what it asks for."""

    client_context = None

    def __init__(self, runtime: Runtime) -> None:
        self.told: list[ForwardMsg] = []
        self._runtime = runtime
        self._session = runtime.connect_session(self, {})

    def write_forward_msg(self, msg: ForwardMsg) -> None:
        """Streamlit's: a message is sent."""
        self.told.append(msg)

    def ask(self, part: str = "", *, page: str = "") -> None:
        """Another run, of a page or of a part."""
        asked = BackMsg()
        asked.rerun_script.fragment_id = part
        asked.rerun_script.page_script_hash = page
        asked.rerun_script.is_auto_rerun = bool(part)
        self._runtime.handle_backmsg(self._session, asked)

    async def hear(self, condition: Callable[[ForwardMsg], bool], since: int = 0) -> ForwardMsg:
        """The first message of those after `since` for which a condition holds."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                for msg in self.told[since:]:
                    if condition(msg):
                        return msg
                await asyncio.sleep(0.01)


def is_start(msg: ForwardMsg) -> bool:
    return msg.WhichOneof("type") == "new_session"


def is_end(msg: ForwardMsg) -> bool:
    return msg.WhichOneof("type") == "script_finished"


def in_a_runtime(
    script: Path, monkeypatch: pytest.MonkeyPatch, visit: Callable[[Browser], Awaitable[Result]]
) -> Result:
    """What a visit of an app ends with; in a thread, for that of a browser test has a loop."""
    monkeypatch.setattr(Runtime, "_instance", None)

    async def run() -> Result:
        files = MemoryUploadedFileManager("/upload")
        runtime = Runtime(RuntimeConfig(str(script), MemoryMediaFileStorage("/media"), files))
        await runtime.start()
        try:
            return await visit(Browser(runtime))
        finally:
            runtime.stop()
            await runtime.stopped

    with ThreadPoolExecutor(1) as threads:
        return threads.submit(lambda: asyncio.run(run())).result()


def test_what_a_run_drew_arrives_though_an_older_part_is_asked_for_when_it_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "page.py"
    script.write_text(PAGE)

    async def visit(browser: Browser) -> list[str]:
        browser.ask()
        part = await browser.hear(lambda msg: msg.WhichOneof("type") == "auto_rerun")
        await browser.hear(is_end)
        since = len(browser.told)
        browser.ask()
        for thread in threading.enumerate():  # the loop stands: nothing of the run is sent yet
            if thread.name.startswith("ScriptRunner"):
                thread.join(PATIENCE_S)
        browser.ask(part.auto_rerun.fragment_id)
        await browser.hear(is_end, since)
        return [msg.delta.new_element.text.body for msg in browser.told[since:]]

    assert "run 2" in in_a_runtime(script, monkeypatch, visit)


def test_a_part_of_the_page_that_was_left_takes_nothing_from_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, flag = tmp_path / "page.py", tmp_path / "flag"
    script.write_text(PAGES.replace("FLAG", str(flag)))

    async def visit(browser: Browser) -> list[str]:
        browser.ask()
        told = await browser.hear(lambda msg: msg.WhichOneof("type") == "navigation")
        first, second = (page.page_script_hash for page in told.navigation.app_pages)
        part = await browser.hear(lambda msg: msg.WhichOneof("type") == "auto_rerun")
        await browser.hear(is_end)
        since = len(browser.told)
        browser.ask(page=second)
        await browser.hear(lambda msg: msg.delta.new_element.text.body == "second", since)
        browser.ask(part.auto_rerun.fragment_id, page=first)
        flag.touch()
        await browser.hear(is_end, since)
        browser.ask(page=second)
        await browser.hear(is_end, len(browser.told))
        return [msg.new_session.page_script_hash for msg in browser.told[since:] if is_start(msg)]

    assert len(set(in_a_runtime(script, monkeypatch, visit))) == 1
