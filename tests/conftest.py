"""Options every test may ask for."""

from __future__ import annotations

import os

import pytest

# Before any test imports ONNX Runtime, which from 1.29 on reports usage to its maker.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the golden files")
