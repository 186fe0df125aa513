"""What a device has: which operators, in which types, ranks and layouts."""

from optimizer.hardware.profile import Bound, HardwareProfile, Support
from optimizer.hardware.reading import profile_of, shipped, text_of
from optimizer.hardware.support import MissingOperator, lack, missing

__all__ = [
    "Bound",
    "HardwareProfile",
    "MissingOperator",
    "Support",
    "lack",
    "missing",
    "profile_of",
    "shipped",
    "text_of",
]
