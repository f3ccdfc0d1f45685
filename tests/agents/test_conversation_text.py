"""A conversation for people: every message under its heading, nothing of it able to leave its block."""

from __future__ import annotations

from agent_helpers import ECHO, answer, calls, talking
from hypothesis import given, settings
from hypothesis import strategies as st

from rubrics.agents.conversation_text import conversation_text


def test_a_whole_conversation_is_readable_markdown() -> None:
    with talking(calls(("echo", {"text": "hi"}), text="Let me see."), calls(answer(7))) as here:
        text = conversation_text(here.talk().messages, (ECHO,))
    assert text == (
        "## Tools\n\n- `echo(text, [times])`: Says it again.\n\n"
        "## 0. System\n\n```text\nWork.\n```\n\n"
        "## 1. User\n\n```text\nThe question.\n```\n\n"
        "## 2. Assistant\n\n```text\nLet me see.\n```\n\nCalls `echo`:\n\n```json\n{\n \"text\": \"hi\"\n}\n```\n\n"
        "## 3. Answer of `echo`\n\n```text\nhi\n```\n\n"
        "## 4. Assistant\n\nCalls `submit`:\n\n```json\n{\n \"answer\": 7\n}\n```\n\n"
        "## 5. Answer of `submit`\n\n```text\naccepted\n```\n"
    )  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.text("`\n#a\x1b", max_size=40))
def test_no_text_ends_its_block(text: str) -> None:
    lines = conversation_text([{"role": "user", "content": text or "x"}]).splitlines()
    fence = lines[2].removesuffix("text")
    assert lines[0] == "## 0. User"
    assert [line for line in lines[3:] if line.startswith(fence)] == [lines[-1]] == [fence]
    assert "\x1b" not in "".join(lines)
