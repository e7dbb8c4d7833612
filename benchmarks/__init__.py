"""Benchmarks: what a claim of speed is rerun with. Each prints ratios to a named alternative in the same run."""
