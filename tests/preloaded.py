"""The imports of the tests' programs, done once instead of by each of them; see ``programs``."""

import gc

import chromadb
import chromadb.api.rust
import fastapi
import onnxruntime
import openai
import tokenizers
import uvicorn

import memory_system.__main__
import memory_system.interfaces.api
import tests.faults.child
import tests.faults.survivor

IMPORTED = (
    *(chromadb, fastapi, onnxruntime, openai, tokenizers, uvicorn),
    *(memory_system.__main__, memory_system.interfaces.api, tests.faults.child, tests.faults.survivor),
)
"""None of these starts a thread or opens a file on import, so that a fork is a fresh program."""
gc.freeze()  # what is shared with the forks stays shared
