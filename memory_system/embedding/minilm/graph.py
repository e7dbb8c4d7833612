"""The ONNX graph of all-MiniLM-L6-v2, written from its published weights with the ``onnx`` package's helpers.

Six transformer layers of width 384 with 12 heads (Wang et al. 2020, arXiv 2002.10957). Input: token ids and
an attention mask, both int64 of shape (batch, length). Output: token states, float32 (batch, length, 384).
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

LAYERS, WIDTH, HEADS, EPSILON = 6, 384, 12, 1e-12


def read_safetensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """The float32 tensors of a safetensors file, by name: a JSON header, then raw little-endian numbers."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    tensors = {}
    for name, about in header.items():
        if name != "__metadata__" and about["dtype"] == "F32":
            start, end = (8 + length + offset for offset in about["data_offsets"])
            tensors[name] = np.frombuffer(raw[start:end], "<f4").reshape(about["shape"])
    return tensors


class _Graph:
    """Collects nodes and constants; each method returns the name of what it made."""

    def __init__(self, tensors: dict[str, NDArray[np.float32]]) -> None:
        self.tensors = tensors
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, name: str, value: NDArray[np.generic]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def weight(self, name: str) -> str:
        return self.constant(name, self.tensors[name])

    def linear(self, x: str, name: str) -> str:
        """X W^T + b: the published weights are (out, in)."""
        product = self.node("MatMul", x, self.constant(f"{name}.weight", self.tensors[f"{name}.weight"].T))
        return self.node("Add", product, self.weight(f"{name}.bias"))

    def normalised(self, x: str, name: str) -> str:
        scale, shift = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.node("LayerNormalization", x, scale, shift, epsilon=EPSILON)

    def embeddings(self) -> str:
        words = self.node("Gather", self.weight("embeddings.word_embeddings.weight"), "input_ids")
        one, zero, two = (self.constant(name, np.array([n])) for name, n in (("one", 1), ("zero", 0), ("two", 2)))
        length = self.node("Slice", self.node("Shape", "input_ids"), one, two)
        positions = self.node("Slice", self.weight("embeddings.position_embeddings.weight"), zero, length, zero)
        segment = self.constant("segment", self.tensors["embeddings.token_type_embeddings.weight"][0])
        total = self.node("Add", self.node("Add", words, segment), positions)
        return self.normalised(total, "embeddings.LayerNorm")

    def mask(self) -> str:
        """0 where there is a token, the lowest float where there is padding; (batch, 1, 1, length)."""
        present = self.node("Cast", "attention_mask", to=TensorProto.FLOAT)
        wide = self.node("Unsqueeze", present, self.constant("mask_axes", np.array([1, 2])))
        absent = self.node("Sub", self.constant("present", np.float32(1)), wide)  # type: ignore[arg-type]
        return self.node("Mul", absent, self.constant("lowest", np.finfo(np.float32).min))  # type: ignore[arg-type]

    def attention(self, x: str, mask: str, layer: str) -> str:
        heads = []
        for part, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
            split = self.node("Reshape", self.linear(x, f"{layer}.attention.self.{part}"), "split")
            heads.append(self.node("Transpose", split, perm=order))
        query, key, value = heads
        scores = self.node("Mul", self.node("MatMul", query, key), "scale")
        weights = self.node("Softmax", self.node("Add", scores, mask), axis=-1)
        context = self.node("Transpose", self.node("MatMul", weights, value), perm=[0, 2, 1, 3])
        return self.linear(self.node("Reshape", context, "join"), f"{layer}.attention.output.dense")

    def layer(self, x: str, mask: str, layer: str) -> str:
        attended = self.node("Add", self.attention(x, mask, layer), x)
        attended = self.normalised(attended, f"{layer}.attention.output.LayerNorm")
        inner = self.node("Gelu", self.linear(attended, f"{layer}.intermediate.dense"))
        outer = self.node("Add", self.linear(inner, f"{layer}.output.dense"), attended)
        return self.normalised(outer, f"{layer}.output.LayerNorm")


def build(weights: Path) -> onnx.ModelProto:
    """The graph with its weights; needs ONNX operator set 20 (for Gelu), as onnxruntime 1.17 and later have."""
    graph = _Graph(read_safetensors(weights))
    graph.constant("split", np.array([0, 0, HEADS, WIDTH // HEADS]))
    graph.constant("join", np.array([0, 0, WIDTH]))
    graph.constant("scale", np.float32((WIDTH // HEADS) ** -0.5))  # type: ignore[arg-type]
    x, mask = graph.embeddings(), graph.mask()
    for number in range(LAYERS):
        x = graph.layer(x, mask, f"encoder.layer.{number}")
    graph.nodes.append(helper.make_node("Identity", [x], ["token_states"]))
    shape = ["batch", "length"]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in ("input_ids", "attention_mask")]
    output = helper.make_tensor_value_info("token_states", TensorProto.FLOAT, [*shape, WIDTH])
    proto = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", inputs, [output], graph.constants)
    return helper.make_model(proto, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
