"""The planners; the registry imports every file here."""
