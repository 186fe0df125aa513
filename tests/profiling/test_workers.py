from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from optimizer.errors import (
    Cancelled,
    InvalidGraph,
    OutOfMemory,
    RunError,
    Stopping,
    WorkerCrashed,
    WorkerTimeout,
)
from optimizer.limits import MIB, JobLimits
from profiling.workers import WorkerPool
from profiling.workers.launcher import ForkServer
from profiling.workers.messages import Job
from profiling.workers.worker import IDLE_S, RETIRE_ABOVE_BYTES, RETIRE_AFTER_JOBS
from tests.profiling import jobs

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    pool = WorkerPool(size=4)
    yield pool
    pool.close()


def running(marker: str) -> list[int]:
    """Processes with `marker` on their command line; an uncollected dead one has none."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and marker.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


def exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def wait_until_gone(marker: str) -> bool:
    for _ in range(200):
        if not running(marker):
            return True
        time.sleep(0.05)
    return False


def test_a_job_returns_its_result(pool: WorkerPool) -> None:
    assert pool(jobs.add, 2, 3) == 5


def test_a_pool_without_modules_leaves_imports_to_its_jobs(pool: WorkerPool) -> None:
    assert pool(jobs.loaded, "onnxruntime")
    with contextlib.closing(WorkerPool(modules=())) as bare:
        assert not bare(jobs.loaded, "onnxruntime")


def test_a_job_runs_in_its_own_process_group_and_an_empty_private_folder(pool: WorkerPool) -> None:
    pid, group, folder, files = pool(jobs.whereabouts)
    assert pid == group
    assert files == []
    assert not Path(folder).exists()


def test_idle_workers_are_used_again(pool: WorkerPool) -> None:
    assert pool(jobs.whereabouts)[0] == pool(jobs.whereabouts)[0]


def test_a_job_goes_to_the_idle_worker_that_had_one_about_the_same() -> None:
    with contextlib.closing(WorkerPool(size=2)) as pool, ThreadPoolExecutor(2) as asking:
        at_once = [
            asking.submit(pool, jobs.nap_here, 0.5, affinity=about) for about in ("ours", "another")
        ]
        ours, another = (job.result() for job in at_once)
        assert ours != another
        for about, process in (("ours", ours), ("another", another), ("ours", ours)):
            assert pool(jobs.whereabouts, affinity=about)[0] == process
        assert pool(jobs.whereabouts, affinity="new")[0] == ours
        assert pool(jobs.whereabouts)[0] == another


def test_a_job_waits_for_the_busy_worker_that_has_open_what_it_is_about() -> None:
    with contextlib.closing(WorkerPool(size=2)) as pool, ThreadPoolExecutor(2) as asking:
        process = pool(jobs.whereabouts, affinity="ours")[0]
        first = asking.submit(pool, jobs.nap_here, 1.0, affinity="ours")
        while pool(jobs.whereabouts)[0] == process:
            pass
        assert pool(jobs.whereabouts, affinity="ours")[0] == process == first.result()


def test_who_waits_for_a_busy_worker_can_be_cancelled() -> None:
    with contextlib.closing(WorkerPool(size=2)) as pool, ThreadPoolExecutor(1) as asking:
        process = pool(jobs.whereabouts, affinity="ours")[0]
        first = asking.submit(pool, jobs.nap_here, 1.0, affinity="ours")
        while pool(jobs.whereabouts)[0] == process:
            pass
        with pytest.raises(Cancelled):
            pool(jobs.whereabouts, affinity="ours", cancelled=lambda: True)
        first.result()


def test_a_worker_collects_garbage_when_it_has_answered_and_nothing_else_is_asked(
    tmp_path: Path,
) -> None:
    answered = tmp_path / "answered"
    with contextlib.closing(WorkerPool(size=1, modules=())) as pool:
        pool(jobs.collect_after, answered)
        answered.touch()
        found: list[bool] = []
        for _ in range(20):
            time.sleep(2 * IDLE_S)
            if found := pool(jobs.collections):
                break
        assert found == [True]


def test_large_arguments_and_results_arrive_unchanged(pool: WorkerPool) -> None:
    data = np.random.default_rng(0).bytes(5 * MIB + 13)
    array = np.arange(3 * MIB, dtype=np.float32).reshape(3, -1)
    doubled, twice = pool(jobs.twice, data, array)
    assert doubled == data * 2
    np.testing.assert_array_equal(twice, array * 2)


def test_large_arrays_are_writable_in_the_worker_and_ours_stay_as_they_are(
    pool: WorkerPool,
) -> None:
    array = np.zeros(MIB, dtype=np.float32)
    assert pool(jobs.in_place, array).sum() == MIB
    assert array.sum() == 0


def test_integer_division_overflow_in_the_runtime_is_a_crash_by_sigfpe(pool: WorkerPool) -> None:
    with pytest.raises(WorkerCrashed) as caught:
        pool(jobs.run_in_runtime, jobs.division_overflow_model())
    assert caught.value.signal_name == "SIGFPE"
    assert "'run in runtime'" in caught.value.message
    assert "'creating the session'" in caught.value.message
    assert pool(jobs.add, 1, 1) == 2


def test_a_segmentation_fault_is_a_crash_by_sigsegv(pool: WorkerPool) -> None:
    with pytest.raises(WorkerCrashed) as caught:
        pool(jobs.segfault)
    assert caught.value.signal_name == "SIGSEGV"


def test_the_last_words_on_stderr_come_with_the_crash(pool: WorkerPool) -> None:
    with pytest.raises(WorkerCrashed) as caught:
        pool(jobs.say_and_die, "cannot go on")
    assert "cannot go on" in caught.value.__notes__[0]


def test_an_abort_for_lack_of_memory_is_out_of_memory(pool: WorkerPool) -> None:
    with pytest.raises(OutOfMemory):
        pool(jobs.abort_like_the_runtime_without_memory)


def test_a_worker_that_exits_without_an_answer_is_a_run_error(pool: WorkerPool) -> None:
    with pytest.raises(RunError, match="exit status 3"):
        pool(jobs.leave, 3)


def test_an_endless_loop_is_stopped_at_the_time_limit(pool: WorkerPool) -> None:
    with pytest.raises(WorkerTimeout, match=r"0\.3 s .*'turning in circles'"):
        pool(jobs.report_and_spin, limits=JobLimits(seconds=0.3))


def test_a_job_that_eats_memory_is_out_of_memory(pool: WorkerPool) -> None:
    with pytest.raises(OutOfMemory, match=r"limit 512 MiB"):
        pool(jobs.eat_memory, limits=JobLimits(memory_bytes=512 * MIB))


def test_limits_of_one_job_do_not_bind_the_next(pool: WorkerPool) -> None:
    pool(jobs.add, 1, 1, limits=JobLimits(memory_bytes=64 * MIB, file_bytes=4096))
    data, array = bytes(128 * MIB), np.zeros(4, np.float32)
    assert len(pool(jobs.twice, data, array)[0]) == 256 * MIB


def test_a_file_above_the_size_limit_is_refused(pool: WorkerPool) -> None:
    with pytest.raises(RunError, match="file size limit"):
        pool(jobs.write_file, 8 * MIB, limits=JobLimits(file_bytes=MIB))


def test_no_core_file_is_written(pool: WorkerPool) -> None:
    assert pool(jobs.core_limit)[0] == 0


def test_children_of_a_job_that_runs_out_of_time_are_killed(pool: WorkerPool) -> None:
    marker = "passlens-test-timeout-children"
    with pytest.raises(WorkerTimeout):
        pool(jobs.spawn_and_spin, marker, limits=JobLimits(seconds=1))
    assert wait_until_gone(marker)


def test_children_that_a_finished_job_left_are_killed(pool: WorkerPool) -> None:
    marker = "passlens-test-left-children"
    pid = pool(jobs.leave_children, marker)
    assert wait_until_gone(marker)
    assert pool(jobs.whereabouts)[0] != pid


def test_our_own_errors_come_back_with_their_findings(pool: WorkerPool) -> None:
    with pytest.raises(InvalidGraph, match="two things") as caught:
        pool(jobs.refuse)
    assert [finding.message for finding in caught.value.findings] == ["bad"]


def test_our_own_errors_keep_their_attributes(pool: WorkerPool) -> None:
    with pytest.raises(WorkerCrashed) as caught:
        pool(jobs.break_contract)
    assert caught.value.signal_name == "SIGFPE"


def test_any_other_error_is_a_run_error_whose_reference_is_in_the_log(
    pool: WorkerPool, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR), pytest.raises(RunError, match="KeyError") as caught:
        pool(jobs.bug)
    reference = caught.value.message.split("reference ")[1].rstrip(").")
    assert reference in caplog.text
    assert "in bug" in caplog.text


def test_a_result_that_does_not_pickle_is_a_run_error(pool: WorkerPool) -> None:
    with pytest.raises(RunError, match="pickle"):
        pool(jobs.unpicklable)


def test_a_worker_may_not_send_a_function(pool: WorkerPool) -> None:
    with pytest.raises(RunError, match="unreadable"):
        pool(jobs.name_a_function)


def test_progress_is_reported_in_order(pool: WorkerPool) -> None:
    seen: list[tuple[str, float]] = []
    assert pool(jobs.count, 4, progress=lambda text, part: seen.append((text, part))) == 4
    assert seen == [(f"step {step}", step / 4) for step in range(4)]


def test_a_running_job_can_be_cancelled(pool: WorkerPool) -> None:
    stop = threading.Event()

    def on_progress(_text: str, _fraction: float) -> None:
        stop.set()

    with pytest.raises(Cancelled, match=r"^Cancelled at the step 'turning in circles'\.$"):
        pool(jobs.report_and_spin, progress=on_progress, cancelled=stop.is_set)


def test_a_worker_whose_asker_has_given_up_leaves_the_folders_of_other_jobs() -> None:
    server = ForkServer(modules=())
    try:
        (server.folder / "other").mkdir()
        worker = server.launch(fresh=False)
        worker.channel.send(Job(abs, (-1,), JobLimits(), str(server.folder / "given up"), ()))
        worker.close()  # its answer and its traceback find nobody
        assert worker.ended.wait(10)
        assert worker.exit_code == 1
        assert (server.folder / "other").exists()
    finally:
        server.close()


def test_a_job_that_waits_for_its_turn_can_be_cancelled() -> None:
    pool = WorkerPool(size=1, modules=())
    started, stop = threading.Event(), threading.Event()

    def on_progress(_text: str, _fraction: float) -> None:
        started.set()

    with ThreadPoolExecutor() as threads:
        first = threads.submit(
            pool, jobs.report_and_spin, progress=on_progress, cancelled=stop.is_set
        )
        assert started.wait(30)
        with pytest.raises(Cancelled, match="waiting for a free worker"):
            pool(jobs.add, 1, 2, cancelled=lambda: True)
        stop.set()
        assert isinstance(first.exception(30), Cancelled)
    pool.close()


def test_fifty_jobs_at_once_all_get_their_own_answer(pool: WorkerPool) -> None:
    with ThreadPoolExecutor(50) as threads:
        futures = [threads.submit(pool, jobs.add, index, 1000) for index in range(50)]
    assert [future.result() for future in futures] == [index + 1000 for index in range(50)]


def test_crashes_among_many_jobs_hit_only_their_own_asker(pool: WorkerPool) -> None:
    def ask(index: int) -> object:
        try:
            return pool(jobs.segfault) if index % 3 == 0 else pool(jobs.add, index, 0)
        except WorkerCrashed as error:
            return error.signal_name

    with ThreadPoolExecutor(12) as threads:
        answers = list(threads.map(ask, range(24)))
    assert answers == [index if index % 3 else "SIGSEGV" for index in range(24)]


def test_the_runtime_sends_no_telemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY", raising=False)  # set for the tests themselves
    pool = WorkerPool(size=1, modules=())
    try:
        assert pool(jobs.environment, "ORT_DISABLE_TELEMETRY") == "1"
    finally:
        pool.close()


def test_a_bench_worker_keeps_its_state_between_calls(pool: WorkerPool) -> None:
    with pool.measuring() as bench:
        worker, other = bench.worker(), bench.worker(fresh=True)
        assert [worker.run(jobs.calls_so_far) for _ in range(3)] == [1, 2, 3]
        assert other.run(jobs.calls_so_far) == 1


@pytest.mark.thorough
def test_a_measuring_worker_keeps_a_large_session_for_any_number_of_calls(
    pool: WorkerPool,
) -> None:
    size = RETIRE_ABOVE_BYTES + MIB
    with pool.measuring() as bench:
        worker = bench.worker(fresh=True)
        worker.run(jobs.keep_memory, size)
        assert [worker.run(jobs.add, 1, 1) for _ in range(RETIRE_AFTER_JOBS)][-1] == 2
        assert worker.run(jobs.keep_memory, 1) == size + 1


def test_a_fresh_worker_that_outgrows_its_memory_is_stopped(pool: WorkerPool) -> None:
    with pool.measuring() as bench, pytest.raises(OutOfMemory):
        bench.worker(fresh=True).run(
            jobs.hold_memory, 400 * MIB, limits=JobLimits(memory_bytes=200 * MIB, seconds=30)
        )


def test_only_one_timing_runs_at_a_time(pool: WorkerPool) -> None:
    with (
        pool.measuring(),
        pytest.raises(Cancelled),
        pool.measuring(cancelled=lambda: True),
    ):
        pytest.fail("two benches at once")


def test_the_pool_goes_on_when_its_fork_server_is_killed() -> None:
    pool = WorkerPool(size=1, modules=())
    try:
        os.kill(pool(jobs.parent), signal.SIGKILL)
        for _ in range(100):
            try:
                assert pool(jobs.add, 1, 1) == 2
                break
            except RunError:
                time.sleep(0.05)
        else:
            pytest.fail("the pool did not recover")
    finally:
        pool.close()


def test_closing_the_pool_leaves_no_process_and_no_folder() -> None:
    pool = WorkerPool(size=1, modules=())
    pid = pool(jobs.whereabouts)[0]
    folder = pool.folder
    pool.close()
    assert not exists(pid)
    assert not folder.exists()


def test_the_asking_script_is_not_imported_again(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "print('imported', flush=True)\n"
        "from profiling.workers import default_pool\n"
        "from tests.profiling import jobs\n"
        "print(default_pool()(jobs.add, 20, 22), default_pool()(jobs.has_another_main))\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.stdout.split() == ["imported", "42", "False"], done.stderr


def test_workers_die_with_the_asking_process(tmp_path: Path) -> None:
    code = (
        "import os, signal\n"
        "from profiling.workers import default_pool\n"
        "from tests.profiling import jobs\n"
        "print(default_pool()(jobs.whereabouts)[0], flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=180,
    )
    pid = int(done.stdout)
    for _ in range(100):
        if not exists(pid):
            return
        time.sleep(0.05)
    pytest.fail("the worker outlived its asker")


@pytest.mark.parametrize("fresh", [False, True])
def test_a_worker_goes_before_us_when_memory_runs_out(pool: WorkerPool, fresh: bool) -> None:
    run = pool.run_fresh if fresh else pool
    own = int(Path("/proc/self/oom_score_adj").read_text())
    assert run(jobs.out_of_memory_score) == 500 > own


def test_a_pool_that_is_closed_says_so_to_whoever_waits_and_whoever_comes_later(
    caplog: pytest.LogCaptureFixture,
) -> None:
    pool = WorkerPool(size=1, modules=())
    under_way = threading.Event()

    def begun(_text: str, _fraction: float) -> None:
        under_way.set()

    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(pool, jobs.report_and_spin, progress=begun)
        assert under_way.wait(30)
        pool.close()
        with pytest.raises(Stopping, match="The server is stopping"):
            waiting.result(30)
    with pytest.raises(Stopping):
        pool(jobs.add, 1, 2)
    assert not caplog.records
