"""Recordings: those a person keeps, and those that come with Passlens."""
