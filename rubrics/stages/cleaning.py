"""Which saved states of environments a store still names, for `rubrics clean`."""

from __future__ import annotations

from pathlib import Path

from rubrics.environments.cleaning import clean_environments, clean_saved
from rubrics.errors import StoreError
from rubrics.store.store import Store


def clean_prepared(store: Store, root: Path | None = None) -> int:
    """Remove prepared states of the store's tasks that none of its rows names; returns how many went."""
    if store.manifest().current("environments") is None:
        return 0
    return clean_saved(str(store.paths.root), _named(store), root)


def clean_all(root: Path | None = None) -> dict[str, int]:
    """Remove what killed runs left, cached images, and prepared states that their stores do not name."""
    found: dict[str, set[str]] = {}

    def named(owner: str, state: str) -> bool:
        if owner not in found:
            try:
                found[owner] = _named(Store.open(Path(owner)))
            except StoreError:
                found[owner] = set()
        return state in found[owner]

    return clean_environments(named, root)


def _named(store: Store) -> set[str]:
    return {row["image"] for row in store.rows("environments", ["image"], where="image IS NOT NULL")}
