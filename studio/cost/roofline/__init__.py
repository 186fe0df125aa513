"""Roofline: what bounds every node on a device."""
