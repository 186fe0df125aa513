"""Operators that a device lacks, written with those it has."""
