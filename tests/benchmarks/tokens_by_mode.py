"""Tokens per rollout of the agent judge, the single judge and one call per criterion, on the same rollouts.

`python tests/benchmarks/tokens_by_mode.py [FOLDER]`: the sample, published rollouts below FOLDER, and synthetic ones of
20 KB; two rubrics of five criteria each. Every request really goes over HTTP, and its usage comes back from there. The
agent works in bubblewrap, eight turns a rollout, and enters a small repository whatever the task.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "benchmarks")]

from agents.agent_helpers import calls  # noqa: E402
from agents.places import laid_out, started  # noqa: E402
from bench_judging import KINDS, judged_store  # noqa: E402
from environments.environment_helpers import small_task  # noqa: E402
from judging.test_agent_prefix import WORK  # noqa: E402
from model_server.server import ModelServer, Said, serving  # noqa: E402
from model_server.sound import sound_verdicts, verdicts  # noqa: E402
from prefix import served_share  # noqa: E402

from rubrics.judges import single  # noqa: E402
from rubrics.judges.answers import merged  # noqa: E402
from rubrics.judges.judge import Judge  # noqa: E402
from rubrics.judges.model_agent import AgentJudge  # noqa: E402
from rubrics.judges.questions import asks_for  # noqa: E402
from rubrics.judges.single import SingleJudge  # noqa: E402
from rubrics.models.client import Client, open_client  # noqa: E402
from rubrics.models.settings import ModelSettings  # noqa: E402
from rubrics.models.tokens import tokens  # noqa: E402
from rubrics.prompting.transcripts import opening_turns  # noqa: E402
from rubrics.records.judgements import Case, Judgement  # noqa: E402
from rubrics.records.rubrics import Criterion, Rubric  # noqa: E402
from rubrics.replies.evidence import Sources  # noqa: E402
from rubrics.stages.judging import cases  # noqa: E402
from rubrics.stages.options import Options  # noqa: E402
from rubrics.stages.pipeline import run_stages  # noqa: E402
from rubrics.stages.stage import run_here  # noqa: E402
from rubrics.store.store import Store  # noqa: E402

SCALE = ("not at all", "in part", "wholly")
GUIDANCE = "The last level where nothing is left open, the first where nothing was done, the middle one in between."
TEXTS = {
    "solution": ("The reported case no longer occurs.", "Inputs outside the report give the same result as before.",
                 "The fault is removed at its origin.", "Messages tell what was wrong with which value.",
                 "New code is laid out as the code around it."),
    "behavior": ("The cause is explained ahead of the repair.", "The reported case is tried on the repaired code.",
                 "Errors of commands are followed up.", "Doubts are settled by a look at the code.",
                 "The work stays with the task."),
}  # fmt: skip
MODES = ("agent", "single", "one per criterion", "the same, all shown")
"""One call per criterion shows what its rubric is about: to solution criteria the patch alone; or all, each time."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What one mode took on some rollouts."""

    requests: float
    """Per rollout, as are the others but the last."""
    prompt: float
    """Tokens of messages, tools and schema, as `rubrics.models.tokens` counts."""
    completion: float
    reported: float
    """Tokens of the prompts, as the endpoint says: four characters of the messages each."""
    served: float
    """Share of the prompts that a prefix cache can serve."""


def rubrics_of(task_id: str) -> dict[Any, Rubric]:
    return {
        kind: Rubric(task_id, kind, tuple(
            Criterion(f"{kind}-{n}", text, 1.0, "judge", guidance=GUIDANCE, scale=SCALE)
            for n, text in enumerate(TEXTS[kind])
        ), "edited", (), "", "")
        for kind in KINDS
    }  # fmt: skip


def cases_of(store: Store, most: int) -> list[Case]:
    """At most so many attempts of each task that have a transcript."""
    ids = [row["task_id"] for row in store.rows("tasks", ["task_id"])]
    listed = [case for case, _ in cases(store, {i: rubrics_of(i) for i in ids}, Options(store=str(store.paths.root)))]
    listed = [case for case in listed if case.rollout.turns and case.rollout.patch]
    by_task = {task_id: [case for case in listed if case.task.task_id == task_id][:most] for task_id in ids}
    return [case for found in by_task.values() for case in found]


def apart(case: Case) -> list[Case]:
    """The case once per criterion."""
    return [
        replace(case, rubrics={kind: replace(rubric, criteria=(item,))})
        for kind, rubric in case.rubrics.items()
        for item in rubric.criteria
    ]


def script(body: dict[str, Any]) -> Any:
    """The single judge at once, the agent after its work."""
    if "tools" not in body:
        return sound_verdicts(body)
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    if turn < len(WORK):
        return calls(*WORK[turn], text="I look at what the criteria ask about.")
    schema = next(t["function"] for t in body["tools"] if t["function"]["name"] == "submit_verdicts")["parameters"]
    return Said(None, (("submit_verdicts", verdicts(schema, body["messages"][1]["content"])),))


class WholeEach:
    """One call per criterion, each with all that the single judge shows of the attempt."""

    name = "each:scripted"

    def __init__(self, client: Client) -> None:
        self._client = client

    async def judge(self, case: Case) -> Judgement:
        asks = asks_for(case)
        attempt, sources = single._attempt(case, asks), Sources(case.rollout.patch, case.rollout.turns)
        parts = tuple((ask,) for ask in asks)
        answers = [
            await self._client.ask(single._request(case, part, attempt), partial(single._read, part, sources))
            for part in parts
        ]
        return merged(self.name, case, "", parts, answers)


@contextmanager
def judges(client: Client) -> Iterator[dict[str, Judge]]:
    with tempfile.TemporaryDirectory() as folder, started("bubblewrap", laid_out(Path(folder) / "repo")) as environment:
        task = small_task(Path(folder) / "repo")
        agent = AgentJudge(client, lambda *_: environment.open(task, None))
        yield {
            MODES[0]: agent,
            MODES[1]: SingleJudge(client),
            MODES[2]: SingleJudge(client),
            MODES[3]: WholeEach(client),
        }


def taken(mode: str, judge: Judge, listed: Sequence[Case], client: Client, server: ModelServer) -> Taken:
    server.requests.clear()
    asked = [part for case in listed for part in (apart(case) if mode == MODES[2] else [case])]
    judgements = [client.run(judge.judge(case)) for case in asked]
    assert {item.failure_class for item in judgements} == {None}, {item.detail for item in judgements}
    prompts = [tokens(_text(body)) for body in server.requests]
    usage = [item.usage for item in judgements]
    count = len(listed)
    return Taken(
        len(prompts) / count, sum(prompts) / count, sum(item.completion or 0 for item in usage) / count,
        sum(item.prompt or 0 for item in usage) / count, _served(server.requests),
    )  # fmt: skip


def _text(body: dict[str, Any]) -> str:
    whole = {name: body[name] for name in ("tools", "messages", "response_format") if name in body}
    return json.dumps(whole, ensure_ascii=False)


def _served(bodies: Sequence[dict[str, Any]]) -> float:
    """The share over all tasks, each for itself: what tasks share stands first and is small."""
    by_task: dict[str, list[dict[str, Any]]] = {}
    for body in bodies:
        by_task.setdefault(body["messages"][1]["content"].partition("\n[[[end task")[0], []).append(body)
    sizes = {name: sum(len(_text(body)) for body in found) for name, found in by_task.items()}
    return sum(served_share(found) * sizes[name] for name, found in by_task.items()) / sum(sizes.values())


def beyond(bodies: Sequence[dict[str, Any]]) -> list[int]:
    """Bytes of each request's messages that begin no earlier one of them."""
    texts = ["".join(message["content"] for message in body["messages"]).encode() for body in bodies]
    return [
        len(text) - max((_common(text, before) for before in texts[:place]), default=0)
        for place, text in enumerate(texts)
    ]


def _common(one: bytes, other: bytes) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def stores(folder: Path, real: Path) -> Iterator[tuple[str, Store, int]]:
    dumps = {
        "sample": [ROOT / "data" / "sample" / name for name in ("tasks.jsonl", "runs", "outcomes.json")],
        "published": [real / name for name in ("specs.jsonl", "mini-swe-agent", "outcomes.json")],
    }
    for name, listed in dumps.items():
        if all(path.exists() for path in listed):
            values = {"store": str(folder / name), "dumps": [str(path) for path in listed]}
            run_stages(("ingest",), values, run_here)
            yield name, Store.open(folder / name), 3
    yield "synthetic", judged_store(folder / "synthetic", 16), 16


def main(real: str = str(ROOT.parent / "shared" / "real")) -> None:
    head = ("rollouts", "mode", "calls", "prompt", "completion", "reported", "served", "of one per criterion")
    print("{:24} {:24} {:>6} {:>8} {:>10} {:>9} {:>7} {:>20}".format(*head))
    with tempfile.TemporaryDirectory() as folder, serving(script) as server:
        settings = ModelSettings("scripted", base_url=server.url, concurrency=1, attempts=1)
        for name, store, most in stores(Path(folder), Path(real)):
            listed = cases_of(store, most)
            with open_client(settings) as client, judges(client) as each:
                found = {mode: taken(mode, judge, listed, client, server) for mode, judge in each.items()}
                _tell(f"{name}, {len(listed)}", found)
                if name == "synthetic":
                    taken(MODES[1], each[MODES[1]], listed, client, server)
                    sizes = _sizes(Path(folder) / name / "rollouts.jsonl", listed)
                    _tell_beyond("told apart", sizes, beyond(server.requests))
                    taken(MODES[1], each[MODES[1]], told_alike(listed), client, server)
                    _tell_beyond("told alike", sizes, beyond(server.requests))


def told_alike(listed: Sequence[Case]) -> list[Case]:
    """The cases with the opening of the first: a harness tells all attempts at a task the same, but the synthetic ones
    are told different words."""
    first = listed[0].rollout.turns or ()
    opening = first[: opening_turns(first)]
    turns = [(case.rollout.turns or ())[len(opening) :] for case in listed]
    return [
        replace(case, rollout=replace(case.rollout, turns=(*opening, *rest)))
        for case, rest in zip(listed, turns, strict=True)
    ]


def _tell_beyond(name: str, sizes: Sequence[int], left: Sequence[int]) -> None:
    """Of rollouts after the first, by their sizes in bytes as the dump has them."""
    per_byte = sorted(more / size for more, size in zip(left[1:], sizes[1:], strict=True))
    said = f"for one of 20 KB that is {20 * per_byte[0]:.1f} to {20 * per_byte[-1]:.1f} KB"
    more = f"beyond an earlier prefix {min(left[1:])} to {max(left[1:])}"
    print(f"single, {name}, {min(sizes)} to {max(sizes)} bytes; {more}; {said}")


def _sizes(dump: Path, listed: Sequence[Case]) -> list[int]:
    """Bytes of each rollout as a line of the dump."""
    rows = [(json.loads(line), len(line)) for line in dump.open("rb")]
    lines = {(row["task_id"], row["attempt"]): size for row, size in rows if row["kind"] == "rollout"}
    return [lines[case.task.task_id, case.rollout.attempt] for case in listed]


def _tell(name: str, found: dict[str, Taken]) -> None:
    base = found[MODES[2]]
    for mode, item in found.items():
        share = (item.prompt + item.completion) / (base.prompt + base.completion)
        print(
            f"{name:24} {mode:24} {item.requests:6.1f} {item.prompt:8.0f} {item.completion:10.0f} {item.reported:9.0f} "
            f"{item.served:7.1%} {share:20.2f}", flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
