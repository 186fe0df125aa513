"""Names in code, whatever the process has compiled before."""

from __future__ import annotations

import pytest

from profiling.codegen.halide_naming import without_serials


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("relu$43.s0.i", "relu.s0.i"),
        ("kernel_par_for_relu__43_s0_i", "kernel_par_for_relu_s0_i"),
        ("kernel_par_for_relu_43_s0_i__1", "kernel_par_for_relu_s0_i"),
        ("_kernel_relu_43_s0_i_block_id_y_1__1_param_0", "_kernel_relu_s0_i_block_id_y_param_0"),
        ("_kernel_halves_1_43_s0_i__2(", "_kernel_halves_1_s0_i("),
        ("_kernel_halves_1_s0_i(", "_kernel_halves_1_s0_i("),
        ("kernel_par_for_relu_s0_i:     # @k", "kernel_par_for_relu_s0_i:  # @k"),
    ],
)
def test_numbers_of_a_process_do_not_stand_in_names(written: str, told: str) -> None:
    assert without_serials(written, ["relu", "halves"]) == told
