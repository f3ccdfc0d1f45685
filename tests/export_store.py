"""A small store with everything an export has to tell apart, for the tests of exports and of trainers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rubrics.records import transcripts
from rubrics.records.rollouts import ToolCall, Turn
from rubrics.store.store import Store

CANARY = "canary-4b1f-sealed-text"
SPEC = "Make `span` return half-open ranges."

RANKED = {"g-ranked": (0.6 + 0.6, 0.6 + 0.3, 0.6 + 0.3, 0.0, 0.0)}
"""reward_star of 5 rollouts, 3 passing, with factors (1, .5, .5) and the mean .6 (method, section 2.8)."""
ADVANTAGES = {
    "g-ranked": (0.6, 0.3, 0.3, -0.6, -0.6),
    "g-capped": (0.775, 0.175, -0.475, -0.475),
    "g-product": (0.235, -0.235),
}
REWARDS = {
    "g-ranked": RANKED["g-ranked"],
    "g-capped": (1.25, 0.65, 0.0, 0.0),
    "g-product": (0.72, 0.25),
}


def make_store(root: Path) -> Store:
    """Three kept groups, one dropped group, one masked row in a kept group; every form of completion."""
    store = Store.create(root)
    rollouts, texts, rewards = [], {}, []
    for group, values in REWARDS.items():
        for number, reward in enumerate(values):
            name = f"{group}-{number}"
            turns = _turns(group, number)
            patch = f"diff --git a/{name} b/{name}\n"
            digest = None
            if turns is not None:
                text = transcripts.to_json(turns)
                digest = transcripts.digest(text)
                texts[(digest, group)] = text
            rollouts.append(_rollout(name, group, digest, patch, number))
            rewards.append(_reward(name, group, digest, number, reward, ADVANTAGES[group][number]))
    rollouts += [_rollout("masked", "g-ranked", None, None, 9), _rollout("dropped", "g-dropped", None, "", 0)]
    rewards += [
        {**_reward("masked", "g-ranked", None, 9, None, None), "status": "infra"},
        {**_reward("dropped", "g-dropped", None, 0, None, None), "kept": False, "drop_reason": "equal", "reward": 1.0},
    ]
    with store.writing() as run:
        run.append("tasks", [{"task_id": group, "spec": SPEC} for group in (*REWARDS, "g-dropped")])
        sealed = {"test_patch": CANARY, "reference_patch": CANARY, "hints": CANARY}
        run.append("sealed", [{"task_id": group, **sealed} for group in REWARDS])
        run.append("rollouts", rollouts)
        rows = [
            {"transcript_digest": digest, "task_id": group, "n_turns": 1, "turns": text}
            for (digest, group), text in texts.items()
        ]
        run.append("transcripts", rows)
        run.append("rewards", rewards)
        run.append(
            "audits", [_audit("confirmed", '["transcript:2"]'), _audit("suspected", '["transcript:3"]', "guess")]
        )
    return store


def _audit(verdict: str, evidence: str, kind: str = "upstream_fetch") -> dict[str, Any]:
    return {
        "rollout_id": "g-ranked-2", "task_id": "g-ranked", "source": "rules", "kind": kind, "verdict": verdict,
        "evidence": evidence, "reason": "fetched the fix",
    }  # fmt: skip


def _turns(group: str, number: int) -> tuple[Turn, ...] | None:
    """Function calls in g-ranked, plain answers in g-capped, no transcript in g-product."""
    if group == "g-product":
        return None
    opening = (Turn("system", "You repair code."), Turn("user", SPEC))
    if group == "g-capped":
        return (*opening, Turn("assistant", f"answer {number}"))
    call = ToolCall("bash", {"command": f"cat {number}.py"}, f'{{"command": "cat {number}.py"}}', f"c{number}")
    broken = ToolCall("bash", None, '{"command": ', None)
    steps = (
        Turn(
            "assistant",
            "I look.",
            reasoning="Where is it?",
            tool_calls=(call,),
            observation="no such file",
            exit_code=1,
        ),
        Turn("assistant", "I try.", tool_calls=(broken,), observation="bad arguments", flags=("malformed_call",)),
        Turn("assistant", f"Done {number}."),
    )
    return (*opening, *(steps if number == 1 else steps[::2]))


def _rollout(name: str, group: str, digest: str | None, patch: str | None, number: int) -> dict[str, Any]:
    return {
        "rollout_id": name, "content_digest": name, "transcript_digest": digest, "task_id": group, "group_id": group,
        "policy": "tiny", "policy_step": 3, "run": "r", "attempt": number, "harness": "native", "patch": patch,
        "exit_status": "Submitted",
    }  # fmt: skip


def _reward(
    name: str, group: str, digest: str | None, number: int, reward: float | None, advantage: float | None
) -> dict[str, Any]:
    passed = None if reward is None else float(reward > 0)
    return {
        "task_id": group, "group_id": group, "rollout_id": name, "run": "r", "attempt": number, "policy": "tiny",
        "policy_step": 3, "status": "ok", "studied": False, "test": passed, "solution": 0.5, "route": "gar",
        "reward": passed, "kept": True, "advantage": advantage, "reward_star": reward, "transcript_digest": digest,
        "config_digest": "c0ffee", "engine_version": "1",
    }  # fmt: skip
