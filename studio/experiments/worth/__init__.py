"""What rewrites are worth: waterfall, ablation, break-even."""
