"""What was asked of models and spent, from a cache's account; reads, writes nothing."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from rubrics.models.cache import unusable

_QUERY = """
select purpose, model, count(*) as requests, sum(kind <> 'ok') as not_used, sum(prompt) as prompt_tokens,
       sum(cached) as cached_tokens, sum(completion) as completion_tokens, sum(cost) as dollars,
       sum(cost is null) as price_not_known
from spending group by purpose, model order by purpose, model
"""


def account(path: Path) -> list[dict[str, Any]]:
    """One row per purpose and model. `not_used`: requests whose answer could not be used, or never came; `dollars`
    leaves out the requests of `price_not_known`, and is null where that is all of them. Raises `StoreError`."""
    if not path.is_file():
        return []
    try:
        connection = sqlite3.connect(
            f"file:{path.as_posix().replace('?', '%3f').replace('#', '%23')}?mode=ro", uri=True
        )
        try:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(_QUERY)]
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise unusable(path, error) from None
