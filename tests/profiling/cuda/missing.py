"""Why a part of NVIDIA's cannot be used here; empty if it can. Only in a fresh worker."""

from __future__ import annotations

from collections.abc import Callable

from profiling.cuda.activity import Collection
from profiling.cuda.device import Unavailable, watching
from profiling.cuda.stages_torch import torch_stages


def cupti() -> str:
    return _refused(lambda: Collection().__enter__().__exit__(None, None, None))


def nvml() -> str:
    return _refused(lambda: watching().__enter__())


def torch() -> str:
    return _refused(lambda: torch_stages(layers=1, width=8, repeats=1))


def _refused(use: Callable[[], object]) -> str:
    try:
        use()
    except Unavailable as error:
        return error.message
    return ""
