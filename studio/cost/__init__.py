"""Cost: what each rewrite bought, and when it has paid."""
