"""What was measured, kept: a database of recordings, and bundles that carry them elsewhere."""

from profiling.records.recording import Kind, Measurement, Recording

__all__ = ["Kind", "Measurement", "Recording"]
