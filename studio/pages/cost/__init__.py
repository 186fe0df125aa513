"""Cost: what each rewrite bought."""
