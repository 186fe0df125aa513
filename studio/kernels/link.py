"""What the section of generated kernels is set to, and how a link says it.

kernel-threads=2  network-seconds=120  region=norm
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from studio.link import Settings, matching, parameter, whole

SECONDS, LEAST_SECONDS, MOST_SECONDS = 60, 10, 600
"""For all races of a network, starts of processes included."""
MOST_THREADS = 256
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,127}")


@dataclass(frozen=True, slots=True)
class GeneratedChoice(Settings):
    """What the section is set to.

    Attributes:
        threads: of a session.
        seconds: by the clock, for the races of the network.
        region: name of the function that is looked at; empty for the first.
    """

    threads: int = parameter("kernel-threads", 1, whole(1, MOST_THREADS))
    seconds: int = parameter("network-seconds", SECONDS, whole(LEAST_SECONDS, MOST_SECONDS))
    region: str = parameter("region", "", matching(_NAME))

    def for_another_model(self) -> GeneratedChoice:
        """The same without what belongs to one model."""
        return replace(self, region="")


SETTINGS = GeneratedChoice
