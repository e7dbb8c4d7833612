"""The server around the pages: who may enter, where it listens, and what it sends compressed."""
