"""Write the vectors of the questions for fields of a personality, after the questions have changed.

    .venv/bin/python tools/personality_questions.py

Each line of ``memory_system/recall/hybrid/questions.json`` is a field and a question for it; the vectors are those of
the default embedder, as whole numbers of -127 to 127, without their lengths.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np

from memory_system import Settings
from memory_system.embedding.embedder import MiniLM

FILE = Path(__file__).parents[1] / "memory_system/recall/hybrid/questions.json"


def main() -> None:
    """Embed the questions, and write the file again."""
    questions = json.loads(FILE.read_text(encoding="utf-8"))["questions"]
    embedder = MiniLM(Settings().cache)
    vectors = embedder.embed([text for _field, text in questions])
    vectors = np.rint(vectors / np.abs(vectors).max(axis=1, keepdims=True) * 127).astype(np.int8)
    lines = ",\n".join(f"    {json.dumps(question, ensure_ascii=False)}" for question in questions)
    packed = base64.b64encode(vectors.tobytes()).decode()
    body = f'{{\n  "embedder": "{embedder.identity}",\n  "questions": [\n{lines}\n  ],\n  "vectors": "{packed}"\n}}\n'
    FILE.write_text(body, encoding="utf-8")


if __name__ == "__main__":
    main()
