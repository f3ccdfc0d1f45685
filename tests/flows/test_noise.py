"""A local run talks to nobody: no connection leaves loopback, no telemetry is sent, and no network is needed."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import TIMEOUT, Command

ALONE = ["unshare", "--user", "--map-root-user", "--net", "sh", "-c"]
CONNECT = re.compile(r"connect\(\d+, \{sa_family=AF_(\w+)(.*)$", re.MULTILINE)
PLACE = re.compile(r'(?:inet_addr\("|inet_pton\(AF_INET6, ")([^"]+)"')
LOCAL = ("127.", "::1", "::ffff:127.")


@pytest.fixture(scope="module")
def without_network() -> None:
    """A network namespace of its own, where only loopback is up; skipped where the kernel does not allow it."""
    if not (shutil.which("unshare") and shutil.which("ip")):
        pytest.skip("unshare and ip are not both installed")
    tried = subprocess.run([*ALONE, "ip link set lo up"], capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"no network namespace may be made here: {tried.stderr.strip()}")


@pytest.mark.parametrize("runner", ["local", "prefect"])
def test_the_demo_works_without_a_network_and_asks_for_none(
    alone: Command, without_network: None, tmp_path: Path, runner: str
) -> None:
    trace = tmp_path / "trace"
    watched = shutil.which("strace")
    words = ["strace", "-f", "--seccomp-bpf", "-v", "-s", "4000", "-e", "trace=connect,execve", "-o", str(trace)]
    command = shlex.join([*(words if watched else ()), *alone.words("demo", "--runner", runner)])
    done = subprocess.run(
        [*ALONE, f"ip link set lo up && exec {command}"],
        cwd=tmp_path, env=alone.environment(), capture_output=True, text=True, timeout=TIMEOUT
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "Rewards by group" in done.stdout
    if not watched:
        pytest.skip("strace is not installed: that the demo works without a network was tried, its calls were not seen")
    said = trace.read_text(errors="replace")
    called = CONNECT.findall(said)
    internet = [rest for family, rest in called if family.startswith("INET")]
    assert [rest for rest in internet if not _is_local(rest)] == []
    if runner == "local":
        assert internet == []
    else:
        assert internet, "the demo reaches its own server by loopback"
        _no_telemetry(said)


def _is_local(rest: str) -> bool:
    place = PLACE.search(rest)
    return place is not None and place[1].startswith(LOCAL)


def _no_telemetry(said: str) -> None:
    """The server that the demo started was told to send nothing, and not to look into its working folder."""
    servers = [line for line in said.splitlines() if "execve(" in line and "temporary_server" in line]
    assert servers, "no server was started"
    for line in servers:
        for setting in ("DO_NOT_TRACK=1", "PREFECT_SERVER_ANALYTICS_ENABLED=false", "PYTHONSAFEPATH=1"):
            assert setting.lower() in line.lower()
