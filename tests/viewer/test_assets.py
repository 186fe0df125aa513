"""The viewer's files over HTTP: everything under its content hash, nothing else."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.types import Message

from studio.viewer import asset_routes, asset_version
from studio.viewer.bundle import bundle
from tests.coroutines import finished

ASSETS = Path(__file__).parents[2] / "studio" / "viewer" / "assets"


def get(path: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of an address, asked without a server."""
    said: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        said.append(message)

    scope: dict[str, Any] = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": b"",
        "headers": [],
    }

    finished(Starlette(routes=asset_routes())(scope, receive, send))  # pyright: ignore[reportArgumentType] - a coroutine function
    headers = {name.decode(): value.decode() for name, value in said[0]["headers"]}
    return said[0]["status"], headers, b"".join(part.get("body", b"") for part in said[1:])


def test_every_module_is_served_under_the_version_and_kept_for_good() -> None:
    for path in (*ASSETS.rglob("*.js"), *ASSETS.rglob("*.css")):
        name = path.relative_to(ASSETS).as_posix()
        status, headers, body = get(f"/viewer/{asset_version()}/{name}")
        assert status == 200
        assert "immutable" in headers["cache-control"]
        assert body == path.read_bytes()


def test_an_outdated_version_is_answered_but_never_kept() -> None:
    status, headers, _ = get("/viewer/0123456789ab/main.js")
    assert status == 200
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "name", ["nothing.js", "../__init__.py", "__init__.py", "trace", "app/../../bundle.py"]
)
def test_nothing_but_assets_is_served(name: str) -> None:
    assert get(f"/viewer/{asset_version()}/{name}")[0] == 404


def test_modules_import_each_other_relatively_and_nothing_from_elsewhere() -> None:
    for path in ASSETS.rglob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("// @ts-check\n")
        for target in re.findall(r"""^import [^;]*?from ["'](.+?)["']""", text, re.MULTILINE):
            assert re.fullmatch(r"\./([a-z-]+/)?[a-z-]+\.js|(\.\./)+([a-z-]+/)?[a-z-]+\.js", target)
            assert (path.parent / target).is_file()
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in text


def imports() -> Iterator[tuple[str, str]]:
    """Folder of a module, folder of what it imports; types do not count."""
    for path in ASSETS.rglob("*.js"):
        text = path.read_text(encoding="utf-8")
        for target in re.findall(r"""^import [^;]*?from ["'](.+?)["']""", text, re.MULTILINE):
            other = (path.parent / target).resolve().parent
            yield path.parent.relative_to(ASSETS).as_posix(), other.relative_to(ASSETS).as_posix()


def test_folders_import_each_other_in_no_circle() -> None:
    folders: dict[str, set[str]] = {}
    for folder, other in imports():
        if folder != other:
            folders.setdefault(folder, set()).add(other)
    order = list(TopologicalSorter(folders).static_order())
    assert order[-1] == "."
    assert order.index("app") > order.index("panels") > order.index("session") > order.index("page")


def test_no_module_is_given_the_viewer_but_those_that_make_one() -> None:
    knowing = [
        path.relative_to(ASSETS).as_posix()
        for path in ASSETS.rglob("*.js")
        if "viewer.js" in path.read_text(encoding="utf-8")
    ]
    assert sorted(knowing) == ["app/first-picture.js", "main.js"]


def test_no_module_writes_markup() -> None:
    forbidden = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b")
    for path in ASSETS.rglob("*.js"):
        assert not forbidden.search(path.read_text(encoding="utf-8")), path.name


def test_all_modules_come_as_one_that_is_packed_once() -> None:
    status, headers, body = get(f"/viewer/{asset_version()}/boot.js")
    assert (status, headers["content-type"].partition(";")[0]) == (200, "text/javascript")
    assert headers["content-encoding"] == "gzip"
    text = gzip.decompress(body).decode()
    assert re.findall(r"^import ", text, re.MULTILINE) == []
    assert text.endswith(
        "export default $main.default;\nexport const drawFirst = $main.drawFirst;\n"
    )


def test_a_module_is_called_after_those_it_imports_and_hands_on_what_it_exports() -> None:
    text = bundle(
        {
            "main.js": 'import { a, b as c } from "./in/a.js";\nexport default function go() {}',
            "in/a.js": 'import { d } from "../of/a.js";\nexport const a = d;\n'
            "export async function b() {}\n",
            "of/a.js": "export const d = 1;\n",
        }
    )
    first, second = text.index("const $in_a = (() => {"), text.index("const $main = (() => {")
    assert text.index("const $of_a = ") < first < text.index("const { d } = $of_a;")
    assert first < text.index("return { a, b };") < second
    assert second < text.index("const { a, b: c } = $in_a;") < text.index("function go() {}")
    assert text.endswith("return { default: go };\n})();\nexport default $main.default;\n")


def test_modules_in_a_circle_are_named() -> None:
    with pytest.raises(ValueError, match="circle"):
        bundle({"main.js": 'import { a } from "./a.js";', "a.js": 'import "./main.js";'})


def test_what_the_bundler_does_not_know_is_named() -> None:
    with pytest.raises(ValueError, match="'export let a = 1;' is not understood"):
        bundle({"main.js": "export let a = 1;"})
