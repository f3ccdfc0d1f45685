"""The account of a run, read from its store: rewards by group, census, what models cost, and one sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rubrics.store.output import markdown_table, plain
from rubrics.store.store import Store
from rubrics.visible import one_line, visible

_REWARDED = "SELECT count(*) AS n, count(*) - count(reward) AS missing FROM rewards"
_MASKED = """
    SELECT concat_ws(' ', status, failure_class) AS why, count(*) AS n
    FROM rewards WHERE reward IS NULL GROUP BY ALL ORDER BY n DESC, why
"""
_MARKS = re.compile(r"[\[\]!*_`~]")
GROUPS = 1_000
"""Groups in a table that is shown somewhere else; the store has all of them."""
WHYS = 8
"""Reasons that the sentence names."""


@dataclass(frozen=True)
class Account:
    """What a run came to."""

    store: Store
    done: Mapping[str, int]
    """Rollouts done per stage of the run (`prepare`: tasks)."""

    @property
    def with_rewards(self) -> bool:
        return "reward" in self.done

    @cached_property
    def rewards(self) -> list[dict[str, Any]]:
        """One row per group (view `reward_by_task`); none where the run computed no rewards."""
        return self.store.query("FROM reward_by_task").to_pylist() if self.with_rewards else []

    @cached_property
    def census(self) -> list[dict[str, Any]]:
        """Everything that was left out or doubted, counted (view `census_totals`)."""
        where = {"all": self.with_rewards}
        sql = "FROM census_totals WHERE $all OR stage <> 'reward'"
        found: list[dict[str, Any]] = self.store.query(sql, where).to_pylist()
        return found

    @cached_property
    def bill(self) -> list[dict[str, Any]]:
        """What models were asked for by this store's runs and what that cost: one row per purpose and model."""
        from rubrics.models.account import account as bill_of
        from rubrics.stages.models import CACHE

        return bill_of(self.store.paths.root / CACHE)

    @cached_property
    def rollouts(self) -> int:
        """Rows of the reward table."""
        return self._rewarded["n"]

    @cached_property
    def masked(self) -> int:
        """Rollouts whose reward is null."""
        return self._rewarded["missing"]

    @cached_property
    def _rewarded(self) -> dict[str, int]:
        row: dict[str, int] = self.store.query(_REWARDED).to_pylist()[0]
        return row

    @property
    def slug(self) -> str:
        """The store's folder in small letters, digits and dashes: runs over one store have it in common."""
        return re.sub("[^a-z0-9]+", "-", self.store.paths.root.name.lower()).strip("-") or "store"

    def first_rewards(self) -> tuple[list[dict[str, Any]], str]:
        """At most `GROUPS` rows of `rewards` as JSON has them, and a sentence that says what they are."""
        left = len(self.rewards) - GROUPS
        more = f"; {left} groups more: rubrics query 'FROM reward_by_task'" if left > 0 else ""
        return [plain(row) for row in self.rewards[:GROUPS]], f"Rewards by group of {self.store.paths.root}{more}"

    @cached_property
    def sentence(self) -> str:
        """How many rollouts were done; after `reward`, how many of them are masked (reward null), and why."""
        done = "Done: " + (", ".join(f"{stage} {count}" for stage, count in self.done.items()) or "nothing")
        if not self.with_rewards:
            return done
        if not self.masked:
            return f"{done}. {self.rollouts} rollouts, each with a reward"
        whys = self.store.query(_MASKED).to_pylist()
        named = [f"{row['n']} {one_line(row['why'])}" for row in whys[:WHYS]]
        more = ["others"] if len(whys) > WHYS else []
        return f"{done}. {self.masked} of {self.rollouts} rollouts masked (reward null): {', '.join(named + more)}"


def account_of(store: str, done: Mapping[str, int]) -> Account:
    """The account of a run over the store in a folder."""
    return Account(Store.open(Path(store)), done)


def as_markdown(account: Account) -> str:
    """Census and bill as a page in Markdown; texts from dumps show as they are, whatever Markdown they hold."""
    bill = _table(account.bill) if account.bill else "No model was asked.\n"
    return f"{account.sentence}\n\n## Census\n\n{_table(account.census)}\n## Bill\n\n{bill}"


def _table(rows: Sequence[dict[str, Any]]) -> str:
    return markdown_table(rows, lambda text: _MARKS.sub(r"\\\g<0>", visible(text)))
