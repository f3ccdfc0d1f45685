"""What came of the calls of one judgement, put together. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rubrics.records.judgements import Addressed, Case, Judgement
from rubrics.records.models import Answer, cost_of, usage_of
from rubrics.replies.verdicts import Ask, VerdictSet

Answers = Sequence[Answer[VerdictSet]]


def merged(judge: str, case: Case, digest: str, parts: Sequence[Sequence[Ask]], answers: Answers) -> Judgement:
    """The complete set of verdicts, from one call or several. Calls that different models answered are no judgement."""
    models = {answer.reply.model for answer in answers}
    if len(models) > 1:
        detail = f"the calls were answered by {', '.join(sorted(models))}; one model has to answer all of them"
        return failed(judge, case, digest, "wrong_model", detail, answers)
    verdicts = tuple(verdict for answer in answers for verdict in answer.value.verdicts)
    names = tuple(",".join(ask.name for ask in part) for part in parts) if len(parts) > 1 else ()
    return Judgement(
        case.rollout.rollout_id, judge, case.repeat, verdicts, _addressed(answers),
        prompt_digest=digest, parts=names, **_account(answers),
    )  # fmt: skip


def failed(
    judge: str, case: Case, digest: str, failure: str, detail: str, answers: Answers = (), lost: int = 0
) -> Judgement:  # fmt: skip
    """No verdicts, and why; with the account of the calls that were answered before, and the count of those in vain."""
    account = _account(answers) if answers else {}
    account["calls"] = account.get("calls", 0) + lost
    return Judgement(
        case.rollout.rollout_id, judge, case.repeat, (), None, failure, detail, prompt_digest=digest, **account
    )


def _addressed(answers: Answers) -> Addressed | None:
    found = [answer.value.addressed for answer in answers if answer.value.addressed is not None]
    if not found:
        return None
    evidence = dict.fromkeys(pointer for item in found for pointer in item.evidence)
    return Addressed(found[0].reason, tuple(evidence))


def _account(answers: Answers) -> dict[str, Any]:
    replies = [answer.reply for answer in answers]
    return {
        "model": replies[0].model,
        "calls": sum(answer.calls for answer in answers),
        "usage": usage_of(replies),
        "cost": cost_of(replies),
        "seconds": sum(reply.seconds for reply in replies),
        "from_cache": all(reply.from_cache for reply in replies),
    }
