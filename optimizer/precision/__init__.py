"""Numbers of formats: which range a value takes, how it is found, and what fewer bits lose."""
