"""Devices whose layouts are assigned: what they block, how long, and what it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from optimizer.cost.classes import OperatorClass
from optimizer.cost.device import DeviceProfile, Level
from optimizer.cost.devices import H200, X86_CORE
from optimizer.errors import StudioError, quoted
from optimizer.hardware import profile_of, shipped
from optimizer.layout.formats import FIRST, LAST
from optimizer.operators.layouts import WRAPPED
from optimizer.runtime.fusions import BLOCKED

_CUBE_BLOCKS = frozenset(
    {"Conv", "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool", "BatchNormalization"}
)
"""What a cube device has over blocks, besides what works element by element."""


@dataclass(frozen=True, slots=True)
class Target:
    """A device and its layout.

    Attributes:
        id: short name.
        layout: its own, as a tag.
        device: the data sheet that costs are reckoned with.
        blocks: length of a block by bits of an element; empty where it has none.
        blocked: operators over blocks that ask for an order; None also allows every operator that
            works element by element.
        elementwise: whether everything that works element by element goes over blocks.
        aligned: of which number of channels those of a convolution have to be a multiple.
        faster: how many times as fast a kernel is in its layout, by class.
        demanded: operators that have a kernel in this layout alone.
        images_last: operators over images that have kernels with channels last.
    """

    id: str
    layout: str
    device: DeviceProfile
    blocks: Mapping[int, int] = field(default_factory=dict[int, int])
    blocked: frozenset[str] = frozenset()
    elementwise: bool = False
    aligned: int = 1
    faster: Mapping[OperatorClass, float] = field(default_factory=dict[OperatorClass, float])
    demanded: frozenset[str] = frozenset()
    images_last: frozenset[str] = frozenset()


_CUBE = replace(
    H200,
    id="cube",
    name="Cube device, 16x16x16",
    source=(
        "4096 multiply-adds a cycle at 1 GHz on each of 32 cores in 16 bits, 1.2 TB/s; shares and "
        "launch are estimates, nothing was measured."
    ),
    date="2019-08-23",
    rates={kind: replace(c, points=((1.0, c.best * 0.26),)) for kind, c in H200.rates.items()},
    levels=(Level("L2", 32 << 20, 4e12), Level("HBM", None, 1.2e12)),
)

TARGETS: Mapping[str, Target] = {
    target.id: target
    for target in (
        Target(
            "cpu",
            "NCHWc16",
            X86_CORE,
            blocks={32: 16},
            blocked=BLOCKED,
            aligned=4,
            # Networks as measured with NchwcTransformer on against off: 1.4 to 2.1.
            faster={
                OperatorClass.DENSE_CONV: 1.5,
                OperatorClass.POINTWISE_CONV: 1.5,
                OperatorClass.GROUPED_CONV: 1.5,
                OperatorClass.DEPTHWISE_CONV: 3.0,
                OperatorClass.POOLING: 1.5,
            },
        ),
        Target("cuda", LAST, H200, images_last=frozenset(WRAPPED)),
        Target(
            "nc1hwc0",
            "NC1HWC0",
            _CUBE,
            blocks={32: 16, 16: 16, 8: 32},
            blocked=_CUBE_BLOCKS,
            elementwise=True,
            demanded=frozenset({"Conv"}),
        ),
    )
}


def target_of(name: str, *, block: int = 0) -> Target:
    """The target of this name; with another length of blocks, if one is given.

    Args:
        name: of a target; or a hardware profile that says in which layout it has operators, as
            `profile_of` takes it.
        block: channels of a block on a CPU.

    Raises:
        StudioError: there is none, or its blocks have one length alone.
    """
    found = TARGETS.get(name) or _of_profile(name)
    if found is None:
        known = ", ".join(TARGETS)
        raise StudioError(f"There is no layout target {quoted(name)}; there are {known}.")
    if not block:
        return found
    if found.id != "cpu" or block not in (8, 16):
        raise StudioError(
            f"Target '{found.id}' has no blocks of {block} channels; 'cpu' has 8 and 16."
        )
    return replace(found, layout=f"NCHWc{block}", blocks={32: block})


def _of_profile(option: str) -> Target | None:
    """A device with the kernels of a profile, priced as the target of the same layout."""
    if option not in shipped() and "\n" not in option:
        return None
    profile = profile_of(option)
    layout = profile.layout
    if layout == FIRST:
        return None
    length = int(layout.removeprefix("NCHWc")) if layout.startswith("NCHWc") else 0
    alike = next((one for one in TARGETS.values() if one.layout == layout), TARGETS["cpu"])
    base = target_of(alike.id, block=length)
    ways = profile.operators.items()
    able = frozenset(name for name, some in ways if any(layout in way.layouts for way in some))
    alone = frozenset(name for name, some in ways if all(way.layouts == (layout,) for way in some))
    if not base.blocks:
        return replace(base, id=profile.name, images_last=able)
    return replace(base, id=profile.name, blocked=able, demanded=alone)
