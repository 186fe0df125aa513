"""The allocator's film, from the graph of a step to what the browser is answered."""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, WebSocket
from starlette.requests import Request

from optimizer.errors import PlanError
from optimizer.memory.buffer import Buffer, lower_bound
from optimizer.memory.plan import check_plan, peak_bytes
from optimizer.pipeline import Pipeline
from profiling.workers import default_pool
from studio import server
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.gallery import gallery
from studio.memory.film.job import FILM, KINDS, content_key, film_url
from studio.memory.film.page import film_table
from studio.memory.subject import ArenaRequest
from tests.coroutines import finished
from tests.studio.browsing import visitor

pytestmark = pytest.mark.long

REQUEST = ArenaRequest(0, sizes=(("batch", 1),))
QUIET = """() => {
  const app = document.querySelector("[data-testid=stApp]");
  return __passlens.resting && !__passlens.untold && app.dataset.testScriptState === "notRunning";
}"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(default_pool(), root=tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def subject(store: Store) -> tuple[OpenedModel, OpenedRun]:
    model = store.open_file(gallery.open_path("resnet50"), name="resnet50")
    return model, store.run(model, Pipeline.of("default"))


@pytest.fixture(scope="module")
def path(store: Store, subject: tuple[OpenedModel, OpenedRun]) -> Path:
    return store.get(FILM, subject, REQUEST)


@pytest.fixture(scope="module")
def film(path: Path) -> dict[str, Any]:
    return json.loads(gzip.decompress(path.read_bytes()))


def buffers_of(film: dict[str, Any]) -> list[Buffer]:
    columns = film["buffers"]
    rows = zip(columns["size"], columns["start"], columns["end"], strict=True)
    return [Buffer(str(i), *row) for i, row in enumerate(rows)]


def test_a_film_is_made_once_and_its_address_names_its_content(
    store: Store, subject: tuple[OpenedModel, OpenedRun], path: Path
) -> None:
    before = path.stat().st_mtime_ns
    assert store.get(FILM, subject, REQUEST) == path
    assert path.stat().st_mtime_ns == before
    key = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    assert film_url(subject, REQUEST, path).endswith(f"/{key}.json")


def test_every_buffer_comes_once_and_goes_once(film: dict[str, Any]) -> None:
    events = film["events"]
    seen: dict[int, list[str]] = {}
    kinds: list[int] = events["kind"]
    buffers: list[int] = events["buffer"]
    for kind, buffer in zip(kinds, buffers, strict=True):
        seen.setdefault(buffer, []).append(KINDS[kind])
    assert set(seen) == set(range(len(film["buffers"]["size"])))
    for come, go in seen.values():
        assert come in ("allocate", "reuse", "split", "grow")
        assert go in ("free", "merge")


def test_all_three_lanes_are_valid_plans_of_the_same_buffers(film: dict[str, Any]) -> None:
    buffers = buffers_of(film)
    naive, lazy, best = film["lanes"]
    for lane in film["lanes"]:
        check_plan(buffers, lane["offsets"])
        assert peak_bytes(buffers, lane["offsets"]) == lane["peak"]
    assert film["bound"] == lower_bound(buffers) == best["peak"] < lazy["peak"] < naive["peak"]
    assert best["certificate"] == "meets the bound"


def test_the_lazy_lane_lies_where_the_events_put_it(film: dict[str, Any]) -> None:
    events, lazy = film["events"], film["lanes"][1]
    for buffer, offset in zip(events["buffer"], events["offset"], strict=True):
        assert lazy["offsets"][buffer] == offset
    assert events["peak"][-1] == lazy["peak"]
    assert events["used"][-1] == 0


def test_events_name_nodes_that_the_viewer_draws(
    subject: tuple[OpenedModel, OpenedRun], film: dict[str, Any]
) -> None:
    drawn = json.loads(gzip.decompress((subject[0].folder / "graph.json.gz").read_bytes()))
    known = {node["id"] for node in drawn["nodes"]}
    assert {node[0] for node in film["nodes"]} <= known
    makers = film["buffers"]["node"]
    assert all(0 <= maker < len(film["nodes"]) for maker in makers)
    assert all(maker == start for maker, start in
               zip(makers, film["buffers"]["start"], strict=True))  # fmt: skip


def test_unknown_sizes_are_refused(store: Store, subject: tuple[OpenedModel, OpenedRun]) -> None:
    with pytest.raises(PlanError, match="no known size"):
        store.get(FILM, subject, replace(REQUEST, sizes=()))


def test_the_browser_gets_it_under_its_content_and_nothing_else(
    store: Store,
    subject: tuple[OpenedModel, OpenedRun],
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "store", lambda: store)
    assert content_key(path) in film_url(subject, REQUEST, path)
    parts = film_url(subject, REQUEST, path).removesuffix(".json").split("/")[3:]
    names = ("model", "run", "request", "key")
    place: dict[str, str] = dict(zip(names, parts, strict=True))
    response = answer(place)
    assert (response.status_code, response.headers["content-encoding"]) == (200, "gzip")
    assert "immutable" in response.headers["cache-control"]
    assert response.body == path.read_bytes()
    for name in names:
        for wrong in ("../../secret", "0" * 16, ""):
            assert answer({**place, name: wrong}).status_code == 404


def answer(place: dict[str, str]) -> Any:
    request = Request({"type": "http", "path_params": place})
    return finished(server.film(request))


def test_the_table_tells_the_same_events(film: dict[str, Any], path: Path) -> None:
    table = film_table(path)
    assert len({len(column) for column in table.values()}) == 1
    assert table["what"] == [KINDS[kind] for kind in film["events"]["kind"]]
    assert table["lazy-best-fit at"] == film["events"]["offset"]
    nodes = [node[1] for node in film["nodes"]]
    places = [nodes.index(name) for name in table["node"]]
    assert places == sorted(places)


def _listen(asked: list[str], socket: WebSocket) -> None:
    """Streamlit asks for another run of the script by a frame."""
    socket.on("framesent", lambda frame: asked.append(f"frame of {len(frame)}"))


def test_the_film_plays_in_the_app_and_tells_the_server_once_where_it_rests(
    app_url: str, page: Page
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", partial(_listen, asked))
    page.goto(f"{app_url}/memory?model=tour&memory=film&sizes=batch:1,seq:64")
    page.wait_for_function("window.__passlens?.ready && __passlens.film", timeout=120_000)
    page.wait_for_function(QUIET)
    assert any(one.startswith("frame") for one in asked)
    asked.clear()
    page.keyboard.press("End")
    page.wait_for_function("__passlens.film.at === __passlens.film.count")
    page.wait_for_url("**&event=*")
    assert len(asked) == 1
    asked.clear()
    page.get_by_role("combobox", name="Playing speed").select_option("16")
    page.get_by_role("button", name="Play (space)").click()
    page.wait_for_function("__passlens.film.at > 50")
    page.keyboard.press(" ")
    page.wait_for_function("__passlens.film.playing === false")
    assert asked == []
    event = page.evaluate("__passlens.film.at")
    page.wait_for_url(f"**&event={event}")
    page.wait_for_function(QUIET)
    assert len(asked) == 1
    assert asked[0].startswith("frame")
    page.get_by_text("Every event as a table").click()
    page.locator("[data-testid=stDataFrame]").wait_for()


def test_the_event_looked_at_survives_a_reload_another_page_and_a_link(
    app_url: str, page: Page, browser: Browser
) -> None:
    link = f"{app_url}/memory?model=tour&memory=film&sizes=batch:1,seq:64"
    stands_at = "window.__passlens?.ready && __passlens.film?.at === {}".format
    page.goto(f"{link}&event=7")
    page.wait_for_function(stands_at(7), timeout=120_000)
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**&event=8", timeout=180_000)
    page.reload()
    page.wait_for_function(stands_at(8), timeout=180_000)
    page.get_by_role("navigation").get_by_role("link", name="Model", exact=True).click()
    page.wait_for_url("**/model?**", timeout=180_000)
    page.go_back()
    page.wait_for_function(stands_at(8), timeout=180_000)
    elsewhere = visitor(browser)
    colleague = elsewhere.new_page()
    colleague.goto(page.url)
    colleague.wait_for_function(stands_at(8), timeout=180_000)
    elsewhere.close()


def test_with_another_alignment_the_film_stays_and_is_in_the_link_again(
    app_url: str, page: Page
) -> None:
    page.goto(f"{app_url}/memory?model=tour&memory=film&sizes=batch:1,seq:64&event=7")
    page.wait_for_function("window.__passlens?.ready && __passlens.film", timeout=120_000)
    page.get_by_test_id("stButtonGroup").get_by_text("256 B", exact=True).click()
    page.wait_for_url("**align=256**&event=7", timeout=180_000)
    assert page.evaluate("__passlens.film.at") == 7
