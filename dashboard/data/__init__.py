"""Records as tables and figures. Nothing here imports streamlit, so that it can be tested on its own."""
