"""What the Layout page is set to, and how a link says it.

target=nc1hwc0
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from studio.link import Settings, matching, parameter

TARGET = "cpu"
_ID = re.compile("[a-z0-9][a-z0-9-]{0,40}")


@dataclass(frozen=True, slots=True)
class LayoutChoice(Settings):
    """The settings.

    Attributes:
        target: id of what layouts are assigned for, or name of a hardware profile.
    """

    target: str = parameter("target", TARGET, matching(_ID))


SETTINGS = LayoutChoice
