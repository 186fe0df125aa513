"""Layout: in which order of axes each node works on a device, and what a device lacks."""
