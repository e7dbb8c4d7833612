"""The store of an agent in Chroma, embedded in this process or on a server."""
