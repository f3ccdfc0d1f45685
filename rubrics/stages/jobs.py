"""Chunks as jobs: what they are keyed by, and doing one in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from rubrics import jsonio
from rubrics.digests import digest128
from rubrics.stages.options import Options
from rubrics.stages.stage import Chunk, Job, Stage, do_chunk
from rubrics.store.chunks import Done
from rubrics.store.manifest import Version
from rubrics.store.store import Store

_DECIDE_NOTHING = frozenset(
    (
        "store", "workers", "concurrency", "requests_per_minute", "tokens_per_minute", "request_timeout", "max_cost",
        "price", "stream", "api_key_env",
    )
)  # fmt: skip
"""Options that say how the work is done, not what comes of it."""


def job_of(stage: Stage, store: Store, options: Options, chunk: Chunk) -> Job:
    """The job of a chunk. Its key is made of the stage, this program's code, the options that decide, what the stage
    reads, and the chunk: the same key stands for the same result."""
    reads = getattr(stage, "reads", None)
    manifest, key = store.manifest(), ""
    if reads is not None:
        tables = {name: (manifest.current(name) or Version()).parts for name in reads}
        said = [_deciding(options), tables, list(chunk.items), _rubric_files(store) if "rubrics" in reads else ""]
        key = digest128([stage.name, code_digest(), jsonio.dumps(said)])
    return Job(stage.name, options, manifest.commit, chunk, key, getattr(stage, "apart", False) and bool(key))


def _deciding(options: Options) -> Mapping[str, Any]:
    values = {item.name: getattr(options, item.name) for item in fields(options) if item.name not in _DECIDE_NOTHING}
    return {**values, "config": None if options.config is None else Path(options.config).read_text("utf-8")}


def _rubric_files(store: Store) -> str:
    """Digest of the rubric files as they are now."""
    files = sorted(store.paths.rubrics.glob("*.yaml"))
    return digest128(text for file in files for text in (file.name, file.read_bytes().decode("utf-8", "replace")))


@cache
def code_digest() -> str:
    """Digest of this program's own code."""
    root = Path(__file__).resolve().parents[1]
    return digest128(file.read_text("utf-8") for file in sorted(root.rglob("*.py")))


def perform(job: Job) -> Done:
    """Do a job in a process that has nothing but the job. The stage is kept for the next one of the same kind."""
    store, stage = _opened(job.stage, job.options, job.commit)
    return do_chunk(stage, store, job)


@lru_cache(maxsize=1)
def _opened(name: str, options: Options, commit: int) -> tuple[Store, Stage]:
    from rubrics.stages.pipeline import stage_apart

    store = Store.open(Path(options.store))
    return store, stage_apart(name, store, options)
