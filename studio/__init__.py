"""Everything a person sees: pages, viewer, figures, command line."""
