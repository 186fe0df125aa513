"""Timeline: when which operator runs, and what memory a run takes."""
