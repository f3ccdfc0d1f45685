"""CPU that the client itself takes per call, beside raw aiohttp, the openai SDK and litellm, in one run.

`python tests/benchmarks/bench_client.py [calls]`: 20 KB prompts, 32 under way, a server without latency in a process of
its own; all in turn, three times over, the middle one told. CPU is that of this process alone; rates depend on the
machine, ratios hardly.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rubrics.errors import UnusableReply
from rubrics.models.client import open_client
from rubrics.models.settings import ModelSettings
from rubrics.records.models import Reply, Request

UNDER_WAY = 32
ROUNDS = 3
NAMES = [f"criterion_{i}" for i in range(10)]
VERDICTS = {name: {"reason": "The patch does what the criterion asks for. " * 3, "level": "met"} for name in NAMES}
SYSTEM = "Rules of the judge. " * 100
SERVER = """
import asyncio, json, sys
text = sys.stdin.readline()
answer = json.dumps({
    "id": "x", "object": "chat.completion", "created": 0, "model": "judge-1",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 5000, "completion_tokens": 300, "total_tokens": 5300},
}).encode()
head = b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n"
answer = head % len(answer) + answer
class Serve(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.data = transport, bytearray()
    def data_received(self, data):
        self.data += data
        while (end := self.data.find(b"\\r\\n\\r\\n")) >= 0:
            length = int(bytes(self.data[:end]).lower().split(b"content-length:")[1].split(b"\\r\\n")[0])
            if len(self.data) < end + 4 + length:
                return
            del self.data[:end + 4 + length]
            self.transport.write(answer)
async def main():
    server = await asyncio.get_running_loop().create_server(Serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


@contextmanager
def fast_server() -> Iterator[str]:
    """The least a server can do, in its own process."""
    process = subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(VERDICTS) + "\n")
        process.stdin.flush()
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.kill()
        process.wait()


def messages(index: int) -> tuple[dict[str, str], ...]:
    return ({"role": "system", "content": SYSTEM}, {"role": "user", "content": f"{index:09d}" * 2000})


def read(reply: Reply) -> dict[str, Any]:
    """What a strict reader at least does."""
    value = json.loads(reply.text)
    if sorted(value) != sorted(NAMES) or any(v["level"] not in ("met", "unmet") for v in value.values()):
        raise UnusableReply("shape", "criteria or levels")
    return dict(value)


async def timed(call: Callable[[int], Awaitable[Any]], calls: int) -> tuple[float, float]:
    """Milliseconds of CPU per call, calls per second."""
    left = iter(range(calls))

    async def worker() -> None:
        for index in left:
            await call(index)

    await asyncio.gather(*(call(-1 - i) for i in range(UNDER_WAY)))
    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(worker() for _ in range(UNDER_WAY)))
    return (time.process_time() - cpu) / calls * 1e3, calls / (time.perf_counter() - began)


async def others(url: str, calls: int) -> dict[str, tuple[float, float]]:
    """The same calls with nothing around them."""
    os.environ.update(LITELLM_LOCAL_MODEL_COST_MAP="True", LITELLM_MODE="PRODUCTION")
    import aiohttp
    import litellm
    import openai

    sdk = openai.AsyncOpenAI(base_url=url, api_key="k", max_retries=0, http_client=openai.DefaultAioHttpClient())
    found = {}
    async with aiohttp.ClientSession() as session, sdk:

        async def raw(index: int) -> None:
            body = {"model": "judge-1", "messages": messages(index), "temperature": 0.0}
            async with session.post(f"{url}/chat/completions", json=body) as answer:
                json.loads((await answer.json())["choices"][0]["message"]["content"])

        async def created(index: int) -> None:
            await sdk.chat.completions.create(model="judge-1", messages=messages(index), temperature=0.0)

        async def hosted(index: int) -> None:
            asked = {"model": "openai/judge-1", "messages": list(messages(index)), "api_base": url, "api_key": "k"}
            await litellm.acompletion(**asked, temperature=0.0, num_retries=0)

        for name, call in (("aiohttp", raw), ("openai SDK on aiohttp", created), ("litellm.acompletion", hosted)):
            found[name] = await timed(call, calls)
    return found


def ours(url: str, calls: int, cache: Path) -> dict[str, tuple[float, float]]:
    """The client with all of it: cache, retries, rates, budget, account; then the same from the cache."""
    settings = ModelSettings(
        "judge-1", url, concurrency=UNDER_WAY, price=(1.0, 2.0, 0.5), max_cost=1e9,
        requests_per_minute=10**9, tokens_per_minute=10**9,
    )  # fmt: skip
    with open_client(settings, cache) as client:

        async def call(index: int) -> None:
            await client.ask(Request(messages(index), purpose="judge"), read)

        return {name: client.run(timed(call, calls)) for name in ("client", "client, all cached")}


def main(calls: int) -> None:
    with fast_server() as url, tempfile.TemporaryDirectory() as folder:
        rounds = [ours(url, calls, Path(folder) / f"{i}.db") | asyncio.run(others(url, calls)) for i in range(ROUNDS)]
    found = {
        name: [statistics.median(column) for column in zip(*(r[name] for r in rounds), strict=True)]
        for name in rounds[0]
    }
    base = found["client"][0]
    for name, (cpu, rate) in found.items():
        print(f"{name:24} {cpu:7.3f} ms CPU per call {rate:8.0f} calls/s {cpu / base:7.2f} of the client's CPU")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 800)
