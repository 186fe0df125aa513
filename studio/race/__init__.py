"""Race: which variant is faster, and how sure that is."""
