"""The viewer's files over HTTP, under their content hash."""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route

from studio.viewer.bundle import bundle

_ASSETS = Path(__file__).parent / "assets"
_TYPES = {".js": "text/javascript", ".css": "text/css"}
BOOT = "boot.js"
_FOREVER = "public, max-age=31536000, immutable"


@cache
def asset_version() -> str:
    """Twelve hex digits over the names and bytes of all assets."""
    digest = hashlib.sha256()
    for name, path in sorted(_files().items()):
        digest.update(name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def asset_routes() -> list[Mount]:
    """What `st.App` mounts: `/viewer/<version>/<folder>/<file>`.

    The version stands in the path, so modules that import each other relatively carry it too.
    """
    return [Mount("/viewer", routes=[Route("/{version}/{name:path}", _asset)])]


async def _asset(request: Request) -> Response:
    name = str(request.path_params["name"])
    # An old page may ask for an old version: it gets today's file, but must not keep it.
    current = request.path_params["version"] == asset_version()
    headers = {"Cache-Control": _FOREVER if current else "no-store"}
    if name == BOOT:
        packed = {**headers, "Content-Encoding": "gzip"}
        return Response(_packed_boot_script(), media_type=_TYPES[".js"], headers=packed)
    path = _files().get(name)
    if path is None:
        return PlainTextResponse("There is no such file.", status_code=404)
    return Response(path.read_bytes(), media_type=_TYPES[path.suffix], headers=headers)


@cache
def _packed_boot_script() -> bytes:
    """Packed once, not for every visitor."""
    return gzip.compress(boot_script().encode(), mtime=0)


@cache
def boot_script() -> str:
    """All modules as one."""
    files = _files().items()
    return bundle({name: path.read_text() for name, path in files if name.endswith(".js")})


@cache
def _files() -> dict[str, Path]:
    """By path below the folder of assets, with `/` on every system."""
    found = (path for path in _ASSETS.rglob("*") if path.suffix in _TYPES)
    return {path.relative_to(_ASSETS).as_posix(): path for path in found}
