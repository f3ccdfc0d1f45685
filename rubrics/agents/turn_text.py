"""One turn of a stored transcript as text. Pure; the caller fences it."""

from __future__ import annotations

from rubrics.records.rollouts import Turn


def turn_text(turn: Turn) -> str:
    """All that the turn holds: what was said, thought, called and answered."""
    parts = [turn.text] if turn.text else []
    if turn.reasoning:
        parts.append(f"[reasoning]\n{turn.reasoning}")
    parts += [f"[call of {call.name}]\n{call.raw}" for call in turn.tool_calls]
    if turn.observation is not None:
        code = "" if turn.exit_code is None else f", exit code {turn.exit_code}"
        parts.append(f"[observation{code}]\n{turn.observation}")
    return "\n".join(parts)


def heading(number: int, turn: Turn) -> str:
    """Number, role and flags of a turn, on one line."""
    role = turn.role if turn.role in ("system", "user", "assistant") else "other"
    return ", ".join((f"turn {number}", role, *turn.flags))
