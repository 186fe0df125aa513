"""Which integers a processor multiplies fast."""

from __future__ import annotations

import pytest

from profiling.instructions import fast_integers, flags, speeds
from profiling.workers import WorkerPool


@pytest.mark.parametrize(
    ("known", "bits", "certain", "words"),
    [
        ({"avx2", "avx512bw", "avx512_vnni"}, 8, True, "AVX-512 VNNI"),
        ({"avx512_vnni", "amx_int8"}, 8, True, "AMX"),
        ({"avx2"}, 7, True, "16 bits"),
        ({"asimd", "asimddp"}, 8, True, "dot products"),
        (set[str](), 8, False, "not known"),
    ],
)
def test_types_follow_from_the_processor_s_flags(
    known: set[str], bits: int, certain: bool, words: str
) -> None:
    found = fast_integers(known)
    assert (found.activations, found.weight_bits, found.certain) == ("uint8", bits, certain)
    assert words in found.because


def test_both_pairs_of_types_are_measured_against_float32(shared_pool: WorkerPool) -> None:
    found = speeds(shared_pool)
    assert found.keys() == {"uint8", "int8"}
    assert all(0 < speed < 1e3 for speed in found.values())


def test_this_processor_s_flags_are_words() -> None:
    assert all(flag and " " not in flag for flag in flags())
