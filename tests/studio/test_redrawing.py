"""Parts of a page that are drawn again by themselves, in Streamlit's own runtime."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime, RuntimeConfig
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

PATIENCE_S = 60
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

    def ask(self, part: str = "") -> None:
        """Another run, of the page or of a part."""
        asked = BackMsg()
        asked.rerun_script.fragment_id = part
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


def is_end(msg: ForwardMsg) -> bool:
    return msg.WhichOneof("type") == "script_finished"


def test_what_a_run_drew_arrives_though_an_older_part_is_asked_for_when_it_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "page.py"
    script.write_text(PAGE)
    monkeypatch.setattr(Runtime, "_instance", None)

    async def visit() -> list[str]:
        files = MemoryUploadedFileManager("/upload")
        runtime = Runtime(RuntimeConfig(str(script), MemoryMediaFileStorage("/media"), files))
        await runtime.start()
        try:
            browser = Browser(runtime)
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
        finally:
            runtime.stop()
            await runtime.stopped

    assert "run 2" in asyncio.run(visit())
