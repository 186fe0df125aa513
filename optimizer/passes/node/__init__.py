"""Node level: single nodes that do nothing."""
