"""all-MiniLM-L6-v2: where its weights come from, and the ONNX graph that runs them."""

from . import weights

__all__ = ["weights"]
