"""The gallery: what is in it, and opening it."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

import pytest

from benchmarks.gallery_figures import count
from optimizer.errors import LoadError, StudioError
from profiling.cache.atomic_folder import LAST_USED
from studio.gallery import gallery
from studio.gallery import packed as packed_module
from studio.gallery.gallery import GalleryModel

pytestmark = pytest.mark.long

MAMBA = next(entry for entry in gallery.entries() if entry.id == "mamba")
PUBLISHED = "resnet50 mobilenetv2 bert gpt2 llama swin whisper-encoder mamba detr t5 vit tour"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSLENS_CACHE", str(tmp_path / "cache"))


def test_the_published_ids_are_there() -> None:
    assert {entry.id for entry in gallery.entries()} == set(PUBLISHED.split())


def test_the_packed_networks_are_under_four_megabytes_together() -> None:
    assert sum(path.stat().st_size for path in gallery.PACKED.glob("*.xz")) < 4e6


@pytest.mark.parametrize("entry", gallery.entries(), ids=lambda entry: entry.id)
def test_a_network_unpacks_to_what_the_table_says(entry: GalleryModel) -> None:
    path = gallery.open_path(entry.id)
    data = path.read_bytes()
    assert path.name == f"{entry.id}.onnx"
    assert len(data) == entry.size_bytes
    assert hashlib.sha256(data).hexdigest() == entry.sha256


@pytest.mark.parametrize("entry", gallery.entries(), ids=lambda entry: entry.id)
def test_what_a_story_counts_is_what_the_trace_says(entry: GalleryModel) -> None:
    counted = {"nodes": entry.nodes, "left": entry.left, "steps": entry.steps}
    assert counted == count(entry.id)


def test_a_story_has_no_number_but_those_of_the_network_and_of_its_trace() -> None:
    typed = {number for entry in gallery.entries() for number in re.findall(r"\d+", entry.told)}
    assert typed == {"16"}  # steps that Mamba unrolls, as its origin says
    stories = {entry.id: entry.story for entry in gallery.entries()}
    assert "68 % of the operators" in stories["bert"]
    assert "one in 14 is left" in stories["swin"]


def test_a_second_opening_reuses_the_unpacked_file() -> None:
    first = gallery.open_path("mamba")
    stamp = first.stat().st_mtime_ns
    assert gallery.open_path("mamba") == first
    assert first.stat().st_mtime_ns == stamp


def test_a_damaged_cached_file_of_the_same_size_is_made_anew() -> None:
    path = gallery.open_path("mamba")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"?")
    assert gallery.open_path("mamba").read_bytes() == whole


def test_nothing_unfinished_is_left_behind() -> None:
    path = gallery.open_path("mamba")
    assert {file.name for file in path.parent.iterdir()} == {path.name, LAST_USED}
    assert not list(path.parent.parent.glob(".*~*"))


def test_processes_that_unpack_at_once_both_get_the_whole_file() -> None:
    code = "from studio.gallery import gallery; print(gallery.open_path('mamba'))"
    command = [sys.executable, "-c", code]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    paths = {process.communicate(timeout=180)[0].strip() for process in both}
    assert len(paths) == 1
    assert hashlib.sha256(Path(paths.pop()).read_bytes()).hexdigest() == MAMBA.sha256


def test_threads_that_ask_at_once_unpack_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked: list[Path] = []

    def unpack(packed: Path, target: BinaryIO) -> str:
        unpacked.append(packed)
        return packed_module.unpack(packed, target)

    monkeypatch.setattr(gallery, "unpack", unpack)
    with ThreadPoolExecutor(4) as threads:
        paths = list(threads.map(gallery.open_path, ["mamba"] * 4))
    assert len(set(paths)) == len(unpacked) == 1


def test_finding_knows_the_ids_and_nothing_else() -> None:
    assert gallery.find("mamba") == MAMBA
    assert gallery.find("resnet51") is None


def test_an_unknown_id_names_the_known_ones() -> None:
    with pytest.raises(LoadError, match="no sample network 'resnet51'; there are tour, resnet50"):
        gallery.open_path("resnet51")


def test_an_unusable_cache_folder_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("PASSLENS_CACHE", str(tmp_path / "file"))
    with pytest.raises(StudioError, match="name another folder in PASSLENS_CACHE"):
        gallery.open_path("mamba")
