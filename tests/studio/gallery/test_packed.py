"""Packing and unpacking of sample networks."""

from __future__ import annotations

import io
import lzma
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.pack_gallery import pack
from optimizer.errors import LoadError, StudioError
from studio.gallery.packed import Weight, draw, unpack

WEIGHT = Weight(5, "float32", 4001, mean=0.5, std=0.2, low=-0.1, high=0.9, seed=7)


def test_a_drawn_weight_is_the_same_on_every_machine() -> None:
    weight = replace(WEIGHT, count=6)
    assert draw(weight).hex() == "319c1d3fc94ce23e739b0c3ffee5573fc148453fa22e0e3f"


def test_a_drawn_weight_has_the_asked_mean_deviation_and_range() -> None:
    values = np.frombuffer(draw(replace(WEIGHT, count=100_000, low=-9, high=9)), "<f4")
    assert math.isclose(values.mean(), 0.5, abs_tol=0.01)
    assert math.isclose(values.std(), 0.2, abs_tol=0.01)
    clipped = np.frombuffer(draw(replace(WEIGHT, count=100_000, low=0.4, high=0.6)), "<f4")
    assert clipped.min() == np.float32(0.4)
    assert clipped.max() == np.float32(0.6)


def test_float16_weights_are_drawn_as_float16() -> None:
    assert len(draw(replace(WEIGHT, dtype="float16"))) == 2 * WEIGHT.count


def test_unpacking_restores_what_stands_between_the_weights(tmp_path: Path) -> None:
    second = replace(WEIGHT, offset=5 + 4 * WEIGHT.count + 6, count=3, seed=8)
    model = b"begin" + draw(WEIGHT) + b"middle" + draw(second) + b"end"
    packed = tmp_path / "model.xz"
    packed.write_bytes(pack(model, [WEIGHT, second]))
    unpacked = io.BytesIO()
    unpack(packed, unpacked)
    assert unpacked.getvalue() == model
    assert packed.stat().st_size < 1000


def test_a_cut_packed_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    packed = tmp_path / "model.xz"
    packed.write_bytes(pack(b"model", [])[:-9])
    with pytest.raises(StudioError, match=r"model\.xz is damaged"):
        unpack(packed, io.BytesIO())


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    packed = tmp_path / "model.xz"
    packed.write_bytes(lzma.compress(b'{"schema":"something/1"}\nmodel'))
    with pytest.raises(LoadError, match="not of the kind"):
        unpack(packed, io.BytesIO())


def test_a_file_that_does_not_come_out_whole_is_refused(tmp_path: Path) -> None:
    packed = tmp_path / "model.xz"
    whole = lzma.decompress(pack(b"model", []))
    packed.write_bytes(lzma.compress(whole.replace(b"\nmodel", b"\nmodem")))
    with pytest.raises(LoadError, match="did not come out whole"):
        unpack(packed, io.BytesIO())
