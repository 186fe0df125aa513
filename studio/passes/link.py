"""What the Passes page is set to, and how a link says it.

pass=fuse-conv-batch-norm&find=conv
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from studio.link import Settings, matching, parameter

_ID = re.compile("[a-z0-9][a-z0-9-]{0,60}")
_WORDS = re.compile(r"[\w .:+-]{1,60}")


@dataclass(frozen=True, slots=True)
class PassesChoice(Settings):
    """The settings.

    Attributes:
        shown: id of the pass that is shown; the first one listed where it is not.
        find: what listed passes have in common.
    """

    shown: str = parameter("pass", "", matching(_ID))
    find: str = parameter("find", "", matching(_WORDS))


SETTINGS = PassesChoice
