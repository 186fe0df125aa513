"""Pure functions: data in, Plotly figure out."""
