"""The viewer's files over HTTP: everything under its content hash, nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from studio.viewer import asset_routes, asset_version

ASSETS = Path(__file__).parents[2] / "studio" / "viewer" / "assets"


@pytest.fixture(scope="module")
def client() -> TestClient:
    """Our routes in a bare application."""
    return TestClient(Starlette(routes=asset_routes()))


def test_every_module_is_served_under_the_version_and_kept_for_good(client: TestClient) -> None:
    for path in ASSETS.iterdir():
        answer = client.get(f"/viewer/{asset_version()}/{path.name}")
        assert answer.status_code == 200
        assert "immutable" in answer.headers["Cache-Control"]
        assert answer.content == path.read_bytes()


def test_an_outdated_version_is_answered_but_never_kept(client: TestClient) -> None:
    answer = client.get("/viewer/0123456789ab/main.js")
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("name", ["nothing.js", "..%2F__init__.py", "__init__.py"])
def test_nothing_but_assets_is_served(client: TestClient, name: str) -> None:
    assert client.get(f"/viewer/{asset_version()}/{name}").status_code == 404


def test_modules_import_each_other_relatively_and_nothing_from_elsewhere() -> None:
    for path in ASSETS.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("// @ts-check\n")
        for target in re.findall(r"""^import .*?from ["'](.+?)["']""", text, re.MULTILINE):
            assert re.fullmatch(r"\./[a-z]+\.js", target)
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in text


def test_no_module_writes_markup() -> None:
    forbidden = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b")
    for path in ASSETS.glob("*.js"):
        assert not forbidden.search(path.read_text(encoding="utf-8")), path.name
