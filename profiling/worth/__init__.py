"""What each rewrite bought: on paper, measured, left out, and when it has paid."""
