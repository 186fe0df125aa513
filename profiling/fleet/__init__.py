"""Races on other machines: a Ray cluster behind the executor interface of `profiling.racing`."""
