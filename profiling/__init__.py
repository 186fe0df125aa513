"""Runs models in worker processes and keeps what was measured."""
