"""The first picture: what a link asks for, drawn before Streamlit has arrived in the browser.

Streamlit's own page brings sixty modules, connects, and runs the page's script before a component
may draw. Ours is the same page with the viewer's module before Streamlit's: it draws the graph at
once, then brings Streamlit, whose component takes the drawn viewer over.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route
from streamlit import file_util

from studio.frame.places import BEHIND_SHARE, HOME, PLACES, title
from studio.opening import model_task, run_task, title_of, verification
from studio.tasks import Task
from studio.viewer import asset_version
from studio.viewing import Descriptor, model_descriptor, workbench
from studio.workspace import from_query, to_query

PATIENCE_S = 60
LOOK_AGAIN_S = 0.02
_BOOT = """
const opening = OPENING;
import("BOOT").then((viewer) => viewer.drawFirst(opening)).catch(() => {
  document.getElementById("first-picture").remove();
  const frame = { type: "module", crossOrigin: "anonymous", src: opening.frame.script };
  document.head.append(Object.assign(document.createElement("script"), frame));
});
"""
ROUTES = {"/": HOME, "/rewrite": "rewrite", "/model": "model"}
_FRAME = Path(__file__).parent / "frame"
_SCRIPT = re.compile(r'\s*<script type="module"[^>]* src="([^"]+)"></script>')
_MODULE = re.compile(r'\s*<link rel="modulepreload"[^>]* href="([^"]+)">')
_FONT = re.compile(r'href="([^"]+\.woff2)"')
_CURRENT = ' aria-current="page"'
_COLOURS = (
    "primaryColor",
    "backgroundColor",
    "secondaryBackgroundColor",
    "textColor",
    "borderColor",
)


def first_picture_routes() -> list[BaseRoute]:
    """The pages that show a viewer, and what it is to draw."""
    return [*(Route(path, _page) for path in ROUTES), Route("/api/first/{page}.json", _data)]


async def _page(request: Request) -> Response:
    """Streamlit's page with the first picture in it."""
    query = dict(request.query_params)
    page = ROUTES[request.url.path.removeprefix(request.scope.get("root_path", ""))]
    if "embed" in query or not _index().script:
        return HTMLResponse(_index().text)
    found = await descriptor(page, query, patience_s=0, whole=True)
    return HTMLResponse(_html(page, query, found), headers={"Cache-Control": "no-store"})


async def _data(request: Request) -> Response:
    """What to draw, as soon as the model is open; `null` where the page itself has to speak."""
    query = dict(request.query_params)
    whole = query.pop("whole", "") == "1"
    page = request.path_params["page"]
    found = await descriptor(page, query, patience_s=PATIENCE_S, whole=whole)
    return JSONResponse(found, headers={"Cache-Control": "no-store"})


async def descriptor(
    page: str, query: Mapping[str, str], *, patience_s: float, whole: bool
) -> Descriptor | None:
    """What the page's component will be told; None without a model to draw.

    Args:
        page: whose.
        query: a permalink's.
        patience_s: how long to wait for the model, and for its run if `whole`.
        whole: wait for the steps, too.
    """
    workspace = from_query(query)
    opening = model_task(workspace)
    await ended(opening, patience_s)
    if opening.result is None:
        return None
    if page == "model":
        return model_descriptor(workspace, opening.result)
    running = run_task(workspace, opening.result)
    await ended(running, patience_s if whole else 0)
    verifying = verification(opening.result, running.result) if running.result else None
    return workbench(workspace, opening, running, verifying)


async def ended(task: Task[Any], patience_s: float) -> None:
    """Wait for a task without keeping others from being served, at most so long."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + patience_s
    while not task.done and clock() < deadline:
        await asyncio.sleep(LOOK_AGAIN_S)


@dataclass(frozen=True, slots=True)
class Index:
    """Streamlit's page without what brings Streamlit.

    Attributes:
        text: the whole page as it is; of a Streamlit that we do not understand, all there is.
        rest: the page without its modules.
        script: address of the first module; "" if it was not found.
        preloads: addresses of the modules that the first one needs.
        font: address of the text's font.
    """

    text: str
    rest: str
    script: str
    preloads: tuple[str, ...]
    font: str


@cache
def _index() -> Index:
    text = (Path(file_util.get_static_dir()) / "index.html").read_text(encoding="utf-8")
    script, font = _SCRIPT.search(text), _FONT.search(text)
    return Index(
        text,
        _MODULE.sub("", _SCRIPT.sub("", text)),
        script[1] if script else "",
        tuple(_MODULE.findall(text)),
        font[1] if font else "",
    )


def _html(page: str, query: Mapping[str, str], found: Descriptor | None) -> str:
    index = _index()
    opening = {
        "data": found,
        "ask": f"api/first/{page}.json?{urlencode(query)}",
        "frame": {"script": index.script, "preloads": index.preloads},
    }
    boot = f"./viewer/{asset_version()}/boot.js"
    told = json.dumps(opening).replace("<", "\\u003c")
    script = _BOOT.replace("BOOT", boot).replace("OPENING", told)
    head = f"{_links(found)}<style>{_styles()}</style>"
    name = escape(title_of(from_query(query)))
    body = f'{_place(page, query, name)}<script type="module">{script}</script>'
    return (
        index.rest.replace("<title>Streamlit</title>", f"<title>{name} · Passlens</title>")
        .replace("</head>", f"{head}</head>")
        .replace("</body>", f"{body}</body>")
    )


def _links(found: Descriptor | None) -> str:
    """What the viewer is about to fetch, asked for before it runs."""
    version = asset_version()
    sources = [found[name] for name in ("graph", "steps") if found.get(name)] if found else []
    fetched = [f"viewer/{version}/viewer.css", *(s["url"].lstrip("/") for s in sources)]
    return f'<link rel="modulepreload" href="./viewer/{version}/boot.js">' + "".join(
        f'<link rel="preload" as="fetch" crossorigin href="./{url}">' for url in fetched
    )


@cache
def _styles() -> str:
    font = f'@font-face{{font-family:"Source Sans";font-weight:100 900;src:url("{_index().font}")}}'
    texts = [(_FRAME / name).read_text(encoding="utf-8") for name in ("frame.css", "first.css")]
    return "".join([font, *map(_theme, ("light", "dark")), *texts])


def _theme(name: str) -> str:
    """Streamlit's colours as its components will get them."""
    colours = {
        f"--st-{_kebab(colour)}": st.get_option(f"theme.{name}.{colour}") for colour in _COLOURS
    }
    sidebar = st.get_option(f"theme.{name}.sidebar.backgroundColor")
    variables = {**colours, "--sidebar": sidebar, "color-scheme": name}
    text = ";".join(f"{key}:{value}" for key, value in variables.items() if value)
    return f'#first-picture[data-theme="{name}"]{{{text};--st-font:"Source Sans",sans-serif}}'


def _kebab(name: str) -> str:
    return re.sub(r"([A-Z])", lambda found: f"-{found[1].lower()}", name)


def _place(page: str, query: Mapping[str, str], name: str) -> str:
    """The bar, and where the viewer goes; a screen reader waits for the real ones."""
    kept = escape(urlencode(to_query(from_query(query))))
    links = "".join(
        f'<a tabindex="-1" href="./{place}?{kept}" data-title="{title(place)}"'
        f"{_CURRENT if place == page else ''}>{title(place)}</a>"
        for place in PLACES
        if place != BEHIND_SHARE
    )
    bar = f'<header class="stAppHeader" aria-hidden="true"><nav>{links}</nav></header>'
    home = f"<div data-home><p>Opening {name} …</p></div>"  # what it says goes with what is drawn
    return f'<div id="first-picture" class="stApp" data-page="{page}">{bar}{home}</div>'
