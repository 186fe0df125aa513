"""What was measured, kept: a database of recordings, and bundles that carry them elsewhere."""

from profiling.records.database import Records
from profiling.records.errors import BundleRefused, DatabaseRefused, RecordsError
from profiling.records.listing import Choices, Filter, Listed
from profiling.records.recording import Kind, Measurement, Recording, hardware, origin

__all__ = [
    "BundleRefused",
    "Choices",
    "DatabaseRefused",
    "Filter",
    "Kind",
    "Listed",
    "Measurement",
    "Recording",
    "Records",
    "RecordsError",
    "hardware",
    "origin",
]
