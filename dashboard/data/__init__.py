"""Records as tables and figures. Nothing here imports streamlit, so that each can be tested on its own."""
