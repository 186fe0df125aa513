"""Transposes timed as written and over as few axes as they need, beside a plain copy."""
