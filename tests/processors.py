"""What the processor that tests run on cannot show."""

from __future__ import annotations

import pytest

from profiling.instructions import fast_integers

SUMS_OF_8_BITS = pytest.mark.skipif(
    fast_integers().weight_bits < 8,
    reason="This processor adds two products of 8 bits in 16, which overflow: docs/precision.md.",
)
"""Weights of all 8 bits are multiplied right: not with AVX2 alone."""
