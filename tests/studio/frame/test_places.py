from __future__ import annotations

from importlib import import_module

import pytest

from studio.frame.places import BEHIND_SHARE, HOME, PLACES


@pytest.mark.parametrize("place", PLACES)
def test_every_place_of_the_bar_is_a_folder_with_a_page_that_draws(place: str) -> None:
    assert callable(import_module(f"studio.{place}.page").render)


def test_home_and_what_lies_behind_share_are_places() -> None:
    assert {HOME, BEHIND_SHARE} <= set(PLACES)
