"""This machine measured through ONNX Runtime itself: one micro model for each class of operator."""

from __future__ import annotations

from profiling.calibration.calibrate import CALIBRATED, CalibrationError, cached, calibrate

__all__ = ["CALIBRATED", "CalibrationError", "cached", "calibrate"]
