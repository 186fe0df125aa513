"""Device profiles: curves, levels, the roofline, JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from optimizer.cost.classes import PER_ELEMENT, OperatorClass
from optimizer.cost.device import DEVICE_FORM, DeviceProfile, RateCurve, flat
from optimizer.cost.devices import A100, DEVICES
from optimizer.errors import StudioError


def test_a_curve_is_straight_on_logarithmic_axes_and_flat_outside() -> None:
    curve = RateCurve(((1.0, 10.0), (100.0, 1000.0)))
    assert curve.at(10) == pytest.approx(100)
    assert (curve.at(0.1), curve.at(1e6)) == (10, 1000)
    assert flat(7.0).at(123) == curve.best / 1000 * 7


def test_a_level_is_the_smallest_that_is_large_enough() -> None:
    l2, memory = A100.levels
    assert A100.level(40 << 20) == l2
    assert A100.level((40 << 20) + 1) == memory


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.id)
def test_a_profile_survives_json(device: DeviceProfile) -> None:
    assert DEVICE_FORM.loads(DEVICE_FORM.dumps(device)) == device


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.id)
def test_a_data_sheet_has_a_rate_for_every_class_that_computes_and_names_its_source(
    device: DeviceProfile,
) -> None:
    without = {OperatorClass.VIEW, OperatorClass.CONTROL, OperatorClass.TRANSCENDENTAL}
    assert set(device.rates) | set(device.strided) == set(OperatorClass) - without
    assert OperatorClass.TRANSCENDENTAL in PER_ELEMENT
    assert not device.measured
    assert "data sheet" in device.source or "guide" in device.source


def test_what_is_broken_or_of_another_format_is_refused_in_our_words() -> None:
    good = DEVICE_FORM.to_json(replace(A100, packing=flat(1e9)))
    assert DEVICE_FORM.from_json(good).packing == flat(1e9)
    changes: list[dict[str, Any]] = [
        {"schema": "passlens.device-profile/7"},
        {"levels": 3},
        {"rates": {"X": []}},
    ]
    for broken in ({}, *(good | change for change in changes)):
        with pytest.raises(StudioError):
            DEVICE_FORM.from_json(broken)


def test_devices_have_ids_of_their_own() -> None:
    assert len({device.id for device in DEVICES}) == len(DEVICES)
