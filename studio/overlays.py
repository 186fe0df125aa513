"""What the viewer shows of nodes as colours: offered to it by being kept beside a run.

    models/<model key>/<run key>/overlay-<id>-<key>/numbers.json.gz

The newest of each overlay is what the viewer offers. What was measured has the key of its content;
what follows from the run alone is an `Artifact` of it, and the run's key tells it from others: so
browsers keep both for good. What `<id>` means, the viewer's `assets/overlays/` says.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from optimizer.isolation import Progress
from optimizer.rewrite.graph_at import TraceFiles
from studio.artifacts.artifact import Artifact, File
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store

_FILE = "numbers.json.gz"
_FOLDER = re.compile(r"overlay-([a-z0-9_]+)-([0-9a-f]{16})")


def keep_numbers(run: OpenedRun, overlay: str, document: Mapping[str, Any]) -> None:
    """Write numbers where the viewer finds them; not where the run was cleared away meanwhile."""
    text = _text(document)
    if not run.folder.is_dir():
        return
    folder = run.folder / f"overlay-{overlay}-{hashlib.sha256(text).hexdigest()[:16]}"
    folder.mkdir(exist_ok=True)
    _write(folder, text)


def overlay_of(overlay: str, make: Callable[..., Mapping[str, Any]]) -> Artifact[None, Path]:
    """An overlay that follows from a run alone.

    Args:
        overlay: its id.
        make: `make(files, progress=…)` gives the document; in a worker.
    """
    return Artifact(f"overlay-{overlay}", partial(_write_made, make), File(lambda _: _FILE))


def _write_made(
    make: Callable[..., Mapping[str, Any]],
    files: TraceFiles,
    request: None,
    folder: Path,
    *,
    progress: Progress,
) -> None:
    del request
    _write(folder, _text(make(files, progress=progress)))


def _text(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, allow_nan=False, separators=(",", ":")).encode()


def _write(folder: Path, text: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as draft:
        draft.write(gzip.compress(text, compresslevel=5, mtime=0))
    Path(draft.name).replace(folder / _FILE)


def kept_numbers(run: OpenedRun, overlay: str) -> Iterator[dict[str, Any]]:
    """What was kept for an overlay, the newest first."""
    for path in reversed(_by_age(run.folder, f"overlay-{overlay}-*")):
        yield json.loads(gzip.decompress(path.read_bytes()))


def offered(model: OpenedModel, run: OpenedRun | None) -> dict[str, dict[str, str]]:
    """Key and address of the newest numbers of a run, or of any run of the model, by overlay."""
    place, pattern = (run.folder, "overlay-*") if run is not None else (model.folder, "*/overlay-*")
    found: dict[str, dict[str, str]] = {}
    for path in _by_age(place, pattern):
        named = _FOLDER.fullmatch(path.parent.name)
        if named is not None:
            overlay, key = named.groups()
            home = f"{model.key}/{path.parents[1].name}"
            found[overlay] = {"key": key, "url": f"/api/overlays/{home}/{overlay}/{key}.json"}
    return found


def numbers_file(store: Store, model_key: str, run_key: str, name: tuple[str, str]) -> Path | None:
    """The file behind such an address; `name` is the overlay and the key."""
    steps = store.file(model_key, run_key)
    folder = "overlay-{}-{}".format(*name)
    if steps is None or _FOLDER.fullmatch(folder) is None:
        return None
    path = steps.parent / folder / _FILE
    return path if path.is_file() else None


def _by_age(place: Path, pattern: str) -> list[Path]:
    return sorted(place.glob(f"{pattern}/{_FILE}"), key=lambda path: path.stat().st_mtime_ns)
