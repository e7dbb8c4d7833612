"""The server around the pages: who comes in, where it listens, and what it sends compressed."""
