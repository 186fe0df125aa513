from __future__ import annotations

from pathlib import Path

from benchmarks.generated_forms import PREPARED, Form, Prepared
from benchmarks.generated_table import Network, lines
from profiling.kernels.generated.network import NETWORK, NetworkKernel
from profiling.kernels.generated.rivals import UNFUSED, unfused_config
from tests.profiling.kernels.generated.test_networks import GELU, SOFTMAX, network


def test_what_was_prepared_is_read_as_it_was_written() -> None:
    form = Form(f"onnxsim {UNFUSED}", "onnxsim.onnx", ("source",))
    kernels = (NetworkKernel(SOFTMAX, 1.5), NetworkKernel(GELU, refusal="alone: slower"))
    made = Prepared("c" * 8, (form,), ("default: 1.30 of source",), kernels)
    assert PREPARED.loads(PREPARED.dumps(made)) == made
    rival = form.rival(Path("folder"), 1)
    assert rival.variant.model == Path("folder/onnxsim.onnx")
    assert rival.variant.config == unfused_config(1)


def test_the_report_has_a_row_goals_and_the_regions_that_gave_it(tmp_path: Path) -> None:
    (tmp_path / "gpt2_slim_ts.onnx").write_bytes(b"")
    found = network(GELU.name, slow=SOFTMAX.name)
    assert NETWORK.loads(NETWORK.dumps(found)) == found
    results = {1: {Network(tmp_path / "gpt2_slim_ts.onnx", "GPT-2"): found}}
    text = "\n".join(lines(results, ["- none: it is none"], ["other, 1"]))
    assert "| gpt2_slim_ts | source = onnxsim | 2 | 0.799 | 1 of 2 | 0.850 |" in text
    assert "geometric mean of 1: 0.850 (at most 0.92 promised: met)" in text
    assert "- GPT-2: 0.850 (at most 0.90 promised: met)" in text
    assert "better kernel 1.12×: kernel of BiasGelu, 12 times (1.50× alone)" in text
    assert "softmax of 2 nodes: Add, Softmax, 2 times: in the network: 0.90× as fast" in text
    assert "none: it is none" in text
    assert "- other, 1" in text
