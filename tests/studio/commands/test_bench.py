from __future__ import annotations

import argparse
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import onnx
import pytest

from profiling.racing.race import RACE
from profiling.racing.samples import contrast
from profiling.racing.sweep import Sweep, SweepPoint
from studio.cli import main
from studio.commands.bench import distinct_names
from studio.commands.bench_report import Threshold, failures, report_json
from tests.studio.races import deployed, race, timing

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
main (float[batch, 256] x) => (float[batch, 256] y) {
   %s
}"""
FEW, MANY = "y = Neg (x)", "a = Exp (x) b = Neg (x) c = Sub (a, a) y = Add (b, c)"
QUICK = ["--runs", "20", "--seconds", "0.5"]


@pytest.fixture
def models(tmp_path: Path) -> list[str]:
    paths: list[str] = []
    for name, body in (("few", FEW), ("many", MANY), ("wrong", "y = Abs (x)")):
        path = tmp_path / f"{name}.onnx"
        onnx.save(onnx.parser.parse_model(MODEL % body), path)
        paths.append(str(path))
    return paths


def bench(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["bench", *arguments, *QUICK])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.thorough
def test_json_holds_the_race_and_what_follows_from_it(
    models: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = bench(capsys, *models[:2], "--as", "bare", "--json")
    assert status == 0
    report = json.loads(out)
    assert report["schema"] == "passlens.bench/3"
    assert report["passed"]
    assert report["failures"] == []
    assert report["dimension"] is None
    (only,) = report["races"]
    race = RACE.from_json(only["race"])
    assert race.transfers
    assert [timing.label for timing in race.timings] == ["few.onnx", "many.onnx"]
    first, second = only["results"]
    assert (first["verdict"], first["contrast"]) == ("the baseline", None)
    assert second["verdict"] == race.verdict("many.onnx")
    assert second["summary"]["runs"] >= 20
    assert sum(second["parts_ms"].values()) > second["cold_ms"] > 0


@pytest.mark.thorough
def test_a_table_of_both_questions_names_each_and_says_what_they_mean(
    models: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, err = bench(capsys, models[0])
    assert [line.split()[0] for line in out.splitlines()] == ["as", "deployed", "bare"]
    assert "Deployed: all of the runtime's own rewrites, on all cores; bare: " in err
    _, out, err = bench(capsys, models[0], "--vary", "graph_optimization=disabled,all")
    assert out.startswith("variant ")
    assert "Raced as deployed only: graph_optimization is set." in err


def test_the_gate_is_about_deployment_unless_only_the_file_is_raced() -> None:
    slow = race([timing("a"), timing("b", 2.0)])
    fast = deployed(race([timing("a"), timing("b", 0.5)]))
    found = [Sweep("", ("a", "b"), (SweepPoint(0, one),)) for one in (fast, slow)]
    limit = Threshold.parsed("10%")
    assert failures(found, limit) == []
    (problem,) = failures(found[1:], limit)
    assert problem.startswith("'b', bare, is 2.00× slower")
    assert report_json(found[1:], limit, [problem])["fail_slower_than_as"] == "bare"


@pytest.mark.thorough
def test_the_race_knows_that_transfers_were_not_timed(
    models: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = bench(capsys, models[0], "--as", "bare", "--json", "--no-transfers")
    (only,) = json.loads(out)["races"]
    assert not RACE.from_json(only["race"]).transfers


@pytest.mark.thorough
def test_a_variant_that_computes_something_else_fails(
    models: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = bench(capsys, models[0], models[2], "--as", "bare")
    assert status == 1
    assert "wrong result" in out
    assert "'wrong.onnx': wrong result" in err


@pytest.mark.thorough
def test_a_sweep_is_a_table_with_a_row_for_each_size(
    models: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = bench(capsys, models[0], "--sweep", "batch=1,8", "--as", "deployed")
    assert status == 0
    lines = out.splitlines()
    assert lines[0].split()[:2] == ["batch", "variant"]
    assert "per second" in lines[0]
    assert [line.split()[0] for line in lines[1:]] == ["1", "8"]
    assert "load" in err


@pytest.mark.slow
def test_a_size_at_which_nothing_runs_fails_and_the_others_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "picky.onnx"
    body = "s = Constant <value_ints = [4, 256]> () y = Reshape (x, s)"
    onnx.save(onnx.parser.parse_model(MODEL % body), path)
    status, out, _ = bench(capsys, str(path), "--sweep", "batch=3,4", "--json", "--as", "bare")
    assert status == 1
    report = json.loads(out)
    assert not report["passed"]
    assert [bool(point["race"]) for point in report["races"]] == [False, True]
    assert report["failures"][0].startswith("batch 3: ")


def test_bound_dimensions_have_that_size(
    models: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = bench(capsys, models[0], "--as", "bare", "--bind", "batch=7", "--json")
    race = RACE.from_json(json.loads(out)["races"][0]["race"])
    assert race.feeds[0].shape == (7, 256)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--sweep", "batch"], "--sweep takes DIM=SIZES"),
        (["--sweep", "length=1"], "no free dimension 'length'; this model has 'batch'"),
        (["--bind", "batch"], "--bind takes DIM=SIZE"),
        (["--bind", "lenght=3"], "no free dimension 'lenght'; this model has 'batch'"),
        (["--set", "no_such=1"], "no option 'no_such'"),
        (["--as", "bare", "--set", "graph_optimization=all"], "deployed and not bare"),
        (["--runs", "0"], "above 0"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    models: list[str], capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main(["bench", models[0], *QUICK, *arguments]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert len(err.splitlines()) == 1


def test_a_file_raced_against_itself_and_equal_names_have_labels_of_their_own(
    tmp_path: Path,
) -> None:
    paths = [tmp_path / folder / "run" / "model.onnx" for folder in ("a", "b")]
    for path in paths:
        path.parent.mkdir(parents=True)
        path.touch()
    assert distinct_names(paths[:1]) == ["model.onnx"]
    assert distinct_names(paths) == ["a/run/model.onnx", "b/run/model.onnx"]
    assert distinct_names([paths[0], paths[0]]) == ["model.onnx", "model.onnx (2)"]
    assert distinct_names([*paths, paths[0]]) == [
        "a/run/model.onnx", "b/run/model.onnx", "a/run/model.onnx (2)",
    ]  # fmt: skip


def test_a_threshold_is_a_share_or_a_factor() -> None:
    assert Threshold.parsed("10%").factor == pytest.approx(1.1)
    assert Threshold.parsed("1.25").factor == 1.25
    assert Threshold.parsed("0%").factor == 1
    for text in ("fast", "0.9", "-5%", "nan", "inf"):
        with pytest.raises(argparse.ArgumentTypeError, match="10%"):
            Threshold.parsed(text)


def test_a_threshold_is_broken_only_where_the_whole_interval_lies_beyond() -> None:
    slower = [[11.0 + 0.1 * (number % 5)] for number in range(20)]
    found = contrast([[10.0]] * 20, slower)
    assert found.verdict == "slower"
    assert Threshold.parsed("5%").broken_by(found)
    assert not Threshold.parsed("12%").broken_by(found)  # the middle is beyond, the end is not
    same = contrast([[10.0]] * 20, [[10.1]] * 20)
    assert not Threshold.parsed("0%").broken_by(same)


@pytest.mark.thorough
def test_a_variant_that_is_surely_too_slow_fails(
    models: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [*models[:2], "--bind", "batch=512", "--set", "graph_optimization=disabled"]
    status, out, err = bench(capsys, *arguments, "--fail-slower-than", "5%", "--json")
    report = json.loads(out)
    assert report["fail_slower_than"] == pytest.approx(1.05)
    high = report["races"][0]["results"][1]["contrast"]["high"]
    assert (status == 1) == (1 / high > 1.05) == (not report["passed"])
    assert ("beyond the limit of 1.05" in err) == (status == 1)


@pytest.mark.thorough
def test_both_questions_are_raced_told_apart_and_recorded(
    models: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    from profiling.records import Records
    from studio import services
    from studio.race.job import RACE_EXPERIMENT

    url = f"sqlite:///{tmp_path / 'records.sqlite'}"
    monkeypatch.setenv("PASSLENS_DATABASE_URL", url)
    services.records.cache_clear()
    limit = ["--fail-slower-than", "10000%"]
    status, out, err = bench(capsys, *models[:2], "--record", "--json", *limit)
    services.records.cache_clear()
    assert status == 0, err
    report = json.loads(out)
    assert [one["as"] for one in report["races"]] == ["deployed", "bare"]
    assert report["fail_slower_than_as"] == "deployed"
    deployed, bare = (RACE.from_json(one["race"]) for one in report["races"])
    assert (deployed.question, bare.question) == ("deployed", "bare")
    assert {timing.config.intra_threads for timing in deployed.timings} == {0}
    number = int(err.split("recorded as number ")[1].split()[0])
    kept = Records(url).load(number)
    assert kept.kind == "race"
    assert kept.model == "few.onnx"
    kept_races = [RACE.to_json(race) for race in RACE_EXPERIMENT.form.from_json(kept.payload).races]
    assert kept_races == [one["race"] for one in report["races"]]
    assert [row.label for row in kept.measurements] == ["few.onnx", "many.onnx"] * 2
    assert all(len(row.workload) == 64 for row in kept.measurements)


@pytest.mark.thorough
def test_interrupting_ends_at_once_without_a_trace_and_the_terminal_saw_progress(
    models: list[str],
) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "studio.cli", "bench", *models[:2], "--seconds", "600"]
    command += ["--runs", "10000000"]
    command = ["env", "--default-signal=INT", *command]  # the suite may run in the background
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = b""
    deadline = time.monotonic() + 60
    while b"round" not in shown and time.monotonic() < deadline:
        shown += os.read(ours, 4096)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=180)
    os.close(ours)
    assert b"%" in shown
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in shown
