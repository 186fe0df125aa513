"""The script Streamlit runs for every visitor, and the frame around all pages."""
