"""The journal of an agent: every change, entry, vector and query, in SQLite or PostgreSQL."""
