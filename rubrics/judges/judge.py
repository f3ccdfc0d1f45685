"""The one interface of judges that ask a model."""

from __future__ import annotations

from typing import Protocol

from rubrics.records.judgements import Case, Judgement


class Judge(Protocol):
    """Judges one rollout at a time; many cases may be under way at once."""

    name: str
    """Kind and model: `single:<model>`, `agent:<model>`."""

    async def judge(self, case: Case) -> Judgement:
        """The complete set of verdicts, or a failure class. Never raises for what a reply or an environment did wrong;
        raises `UsageError` where nothing can ever be judged (no key, unknown model)."""
