"""Recordings that come with Passlens: read from their bundles, never among a person's own.

A link names a whole bundle, `recorded=two-cores`, or one of it by its number, `two-cores:2`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from optimizer.errors import StudioError
from profiling.records import Kind, Recording, hardware
from profiling.records.bundle import SUFFIX, open_bundle
from profiling.records.recording import started
from studio.gallery import gallery

PACKED = Path(__file__).parent
COMMITTED = Path(__file__).parents[2] / "benchmarks" / "results"
"""Beside a checkout only."""

_PLACE = re.compile(r"[\w-]{1,80}(:[1-9][0-9]{0,3})?")
_KIND_NAMES = {"worth": "what rewrites are worth", "capture": "CUDA Graph"}


@dataclass(frozen=True, slots=True)
class Shipped:
    """A bundle that comes with Passlens.

    Attributes:
        name: of the file, without its suffix.
        recordings: numbered from 1 by their `id`.
        problem: why it cannot be read; empty if it can.
    """

    name: str
    recordings: tuple[Recording, ...]
    problem: str = ""

    @property
    def title(self) -> str:
        """What is in it: "ResNet-50: race, profile · BERT: sweep"."""
        kinds: dict[str, list[str]] = {}
        for one in self.recordings:
            said = kinds.setdefault(model_title(one), [])
            kind = _KIND_NAMES.get(one.kind, one.kind)
            if kind not in said:
                said.append(kind)
        listed = " · ".join(f"{model}: {', '.join(said)}" for model, said in kinds.items())
        return listed or self.name

    @property
    def origin(self) -> str:
        """Where and when: "Recorded on Xeon 8481C, 16 cores, 2026-11-21"; why not, if damaged."""
        if not self.recordings:
            return self.problem
        machines = dict.fromkeys(hardware(one.machine) for one in self.recordings)
        days = sorted(f"{started(one.started_at):%Y-%m-%d}" for one in self.recordings)
        when = " to ".join(dict.fromkeys((days[0], days[-1])))
        return f"Recorded on {'; '.join(machines)}, {when}"


@dataclass(frozen=True, slots=True)
class Earlier:
    """A recording that stands where nothing was measured yet.

    Attributes:
        bundle: it came with; empty for one of the person's own.
    """

    recording: Recording
    bundle: str = ""


def shipped() -> tuple[Shipped, ...]:
    """All bundles that come with Passlens, those packed with it first."""
    files = [path for folder in (PACKED, COMMITTED) for path in sorted(folder.glob(f"*{SUFFIX}"))]
    return tuple(_read(path, path.stat().st_mtime_ns) for path in files)


def find_shipped(name: str) -> Shipped | None:
    """The bundle of this name."""
    return next((bundle for bundle in shipped() if bundle.name == name), None)


def place_of(text: str) -> tuple[str, int | None] | None:
    """Bundle and number of a link's `recorded`; None where it is neither."""
    if not _PLACE.fullmatch(text):
        return None
    name, _, number = text.partition(":")
    return name, int(number) if number else None


def earlier(
    own: Sequence[Recording],
    kind: Kind,
    model_hash: str,
    *,
    fits: Callable[[Recording], bool],
) -> Earlier | None:
    """The person's last recording, else a shipped one of this model, else a shipped one.

    Args:
        own: recordings of this model, the newest first.
        kind: of the recording.
        model_hash: of the open model.
        fits: whether a recording of the kind can be shown.
    """
    mine = next((one for one in own if fits(one)), None)
    if mine is not None:
        return Earlier(mine)
    found = [
        Earlier(one, bundle.name)
        for bundle in shipped()
        for one in bundle.recordings
        if one.kind == kind and fits(one)
    ]
    alike = (one for one in found if one.recording.model_hash == model_hash)
    return next(alike, found[0] if found else None)


def model_title(recording: Recording) -> str:
    """The display name of a recording's model."""
    entry = gallery.find(recording.model)
    return entry.title if entry is not None else recording.model


@lru_cache(maxsize=16)
def _read(path: Path, _changed_ns: int) -> Shipped:
    try:
        found = open_bundle(path)
    except StudioError as error:
        return Shipped(path.stem, (), error.message)
    numbered = (replace(one, id=number, bundle="") for number, one in enumerate(found, 1))
    return Shipped(path.stem, tuple(numbered))
