"""Run: choose variants once; race them, and see in each section why one wins."""
