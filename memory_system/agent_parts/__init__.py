"""What an agent can do, by theme: each part is one class that ``AgentMemory`` is put together from."""
