"""Digests: the identity of contents."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b


def digest128(parts: Iterable[str | int | None]) -> str:
    """32 hex digits over the parts in order.

    Each part is written with its type and length before it, so that no two different sequences
    have the same bytes; null differs from the empty string. Lone surrogates are kept as they are.
    """
    state = blake2b(digest_size=16)
    for part in parts:
        if part is None:
            state.update(b"n;")
            continue
        data = str(part).encode("utf-8", "surrogatepass")
        state.update(b"%s%d:" % (b"i" if isinstance(part, int) else b"s", len(data)))
        state.update(data)
    return state.hexdigest()
