"""Benchmarks: programs that recheck claims of speed. Each prints ratios to a named alternative in the same run."""
