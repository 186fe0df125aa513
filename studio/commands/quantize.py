"""`passlens quantize`: the cheapest precision of each part of a model within what may be lost."""

from __future__ import annotations

import argparse
import signal
from pathlib import Path
from threading import Event

from optimizer.errors import StudioError, plain, quoted
from optimizer.model.loader import load_path
from optimizer.model.writer import write
from optimizer.numbers import counted
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace_file import save_trace
from optimizer.source import complete
from optimizer.verify import budget_of
from profiling.config.question import config_for
from profiling.config.settings import read_settings
from profiling.precision.choose import SearchRequest, check, choose
from profiling.precision.chosen import CHOSEN, ChosenPlan
from profiling.precision.evaluation import Requirement
from profiling.precision.metric import metric_of
from profiling.precision.trials import Allowance
from profiling.workers import default_pool
from studio.commands import CHECK_FAILED, DONE
from studio.commands.models import bindings, model_path
from studio.commands.output import print_json, say
from studio.commands.progress_line import progress_line

_LONGEST_MIN = 24 * 60.0


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    add = parser.add_argument
    add("model", metavar="MODEL")
    add(
        "--calibration", type=Path, metavar="DIR",
        help="samples: an .npz, or for one input an .npy, each; without, inputs are generated",
    )  # fmt: skip
    add(
        "--budget", metavar="5%|25dB",
        help="most error of an output, of its scale, or least signal over error",
    )  # fmt: skip
    add(
        "--metric", metavar="FILE.py:FUNCTION>=X",
        help="a function of outputs and labels, and what it has to give; or <=",
    )  # fmt: skip
    add("--labels", type=Path, metavar="FILE.npy", help="for the metric: an entry a sample")
    add("--goal", choices=("speed", "size"), default="speed", help="what is to be gained")
    add("--minutes", type=float, default=5.0, metavar="M", help="for the search; 5 by default")
    add("--set", action="append", default=[], metavar="OPTION=VALUE", help="how models are run")
    add("--bind", action="append", default=[], metavar="DIM=SIZE", help="settle a free dimension")
    add("-o", "--output", type=Path, metavar="OUT", help="write the model")
    add("--trace", type=Path, metavar="FILE", help="write the trace that leads to it")
    add(
        "--record", type=Path, metavar="FILE",
        help="keep what was tried, and begin with what is kept there of the same model",
    )  # fmt: skip
    add("--json", action="store_true", help="machine-readable, to stdout")


def run(arguments: argparse.Namespace) -> int:
    """Search, write the answer, open what was written.

    Raises:
        StudioError: an argument, a sample or the metric is wrong, the model cannot be run, or there
            is nothing in it to quantize.
    """
    source, asked = model_path(arguments.model), _asked(arguments)
    _require_folders(arguments.output, arguments.trace, arguments.record)
    chosen = _chosen(source, asked, arguments.record)
    if arguments.json:
        print_json(CHOSEN.to_json(chosen))
    for line in filter(
        None, [chosen.remark, chosen.integers.because, _ended(chosen), chosen.finding]
    ):
        say(plain(line))
    if not chosen.found.met:
        return CHECK_FAILED
    if arguments.output is not None or arguments.trace is not None:
        return _write(arguments, source, asked, chosen)
    return DONE


def _require_folders(*files: Path | None) -> None:
    """Guard: a search takes minutes, and what it finds has to be written somewhere."""
    for file in files:
        if file is not None and not file.absolute().parent.is_dir():
            raise StudioError(
                f"There is no folder {quoted(str(file.parent))} to write {file.name}."
            )


def _asked(arguments: argparse.Namespace) -> SearchRequest:
    if not 0 < arguments.minutes <= _LONGEST_MIN:
        raise StudioError(f"--minutes must be above 0, and {_LONGEST_MIN:g} at most.")
    if arguments.budget is None and arguments.metric is None:
        raise StudioError("What may be lost? Give --budget 5%, --budget 25dB, or --metric.")
    if arguments.labels is not None and arguments.metric is None:
        raise StudioError("--labels are for --metric.")
    required = Requirement(
        None if arguments.budget is None else budget_of(arguments.budget),
        None if arguments.metric is None else metric_of(arguments.metric, arguments.labels),
    )
    return SearchRequest(
        required,
        arguments.goal,
        arguments.calibration,
        bindings(arguments.bind),
        Allowance(60 * arguments.minutes),
        config_for("deployed", read_settings(arguments.set)),
    )


def _chosen(source: Path, asked: SearchRequest, record: Path | None) -> ChosenPlan:
    """The answer; an interrupt ends the search with what there is by then."""
    before = None
    if record is not None and record.exists():
        before = CHOSEN.loads(record.read_bytes())
    interrupted = Event()

    def interrupt(_number: int, _frame: object) -> None:
        interrupted.set()

    usual = signal.signal(signal.SIGINT, interrupt)
    try:
        with progress_line() as progress:
            chosen = choose(
                source, asked, pool=default_pool(), before=before,
                progress=progress, cancelled=interrupted.is_set,
            )  # fmt: skip
    finally:
        signal.signal(signal.SIGINT, usual)
    if record is not None:
        record.write_bytes(CHOSEN.dumps(chosen))
    return chosen


def _ended(chosen: ChosenPlan) -> str:
    tried = counted(len(chosen.found.evaluations) - 1, "plan")
    return f"{tried} for {counted(len(chosen.regions), 'region')}: {chosen.found.ended}."


def _write(
    arguments: argparse.Namespace, source: Path, asked: SearchRequest, chosen: ChosenPlan
) -> int:
    """The model of the answer, its trace, and whether the file keeps what was promised."""
    with progress_line() as progress:
        progress("reading the model again", 0.0)
        model = complete(load_path(source), isolate=default_pool(), bind=asked.bindings)
    if chosen.found.answer:
        planned = chosen.pipeline(chosen.answer.plan)
        with progress_line() as progress:
            trace = optimize(model, planned, isolate=default_pool(), progress=progress)
        if arguments.trace is not None:
            save_trace(Cursor.at_end(trace), arguments.trace)
    if arguments.output is None:
        return DONE
    write(model.ir, arguments.output)
    with progress_line() as progress:
        found = check(source, arguments.output, asked, pool=default_pool(), progress=progress)
    told = found.failure or asked.required.measured(found)
    say(plain(f"{arguments.output}: {told} on {counted(chosen.held, 'sample')} held out."))
    broken = bool(found.failure) or asked.required.excess(found) > 0
    return CHECK_FAILED if broken else DONE
