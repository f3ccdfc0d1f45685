"""What the filters of system calls decide, read from the programs themselves, also for processors not at hand."""

from __future__ import annotations

import json
import struct
from errno import EAFNOSUPPORT, ENOSYS, EPERM
from fnmatch import fnmatchcase
from typing import Any

import pytest

from rubrics.environments import system_calls as calls
from rubrics.environments.seccomp import ALLOW, ARCHITECTURES, ERROR, KILL, docker_profile, kernel_filter

MACHINES = ("x86_64", "aarch64")
SIGNED = 1 << 64


def decided(program: bytes, architecture: int, number: int, arguments: tuple[int, ...] = ()) -> int:
    """What a kernel that runs the program returns."""
    padded = [value % SIGNED for value in (*arguments, *[0] * 6)][:6]
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, architecture, 0, *padded)
    steps = [struct.unpack("<HBBI", program[at : at + 8]) for at in range(0, len(program), 8)]
    at = held = 0
    while True:
        code, when, unless, operand = steps[at]
        at += 1
        if code == 0x06:
            return int(operand)
        if code == 0x20:
            held = struct.unpack_from("<I", data, operand)[0]
        else:
            true = {0x15: held == operand, 0x25: held > operand, 0x45: bool(held & operand)}[code]
            at += when if true else unless


def allowed(rules: list[dict[str, Any]], name: str, arguments: tuple[int, ...] = ()) -> bool:
    """What Docker's runtime makes of the profile."""
    padded = [value % SIGNED for value in (*arguments, *[0] * 6)][:6]
    return any(
        rule["action"] == "SCMP_ACT_ALLOW"
        and name in rule["names"]
        and all(
            (padded[item["index"]] & item["value"] == item["valueTwo"])
            if item["op"] == "SCMP_CMP_MASKED_EQ"
            else padded[item["index"]] == item["value"]
            for item in rule.get("args", ())
        )
        for rule in rules
    )


NAMESPACE, VSOCK, LIMIT = 0x10000000, 40, 0x7F0000000000
CASES = (
    ("clone", (0x01200011,), True), ("clone", (NAMESPACE | 17,), False), ("clone", (0x00020000,), False),
    ("clone", (SIGNED // 2 | NAMESPACE,), False),
    ("socket", (1,), True), ("socket", (10,), True), ("socket", (VSOCK,), False), ("socket", (38,), False),
    ("socket", (17,), False), ("socketpair", (1,), True), ("socketpair", (VSOCK,), False),
    ("personality", (0xFFFFFFFF,), True), ("personality", (0x40000,), False),
    ("prlimit64", (0, 7, LIMIT), True), ("prlimit64", (1, 7, 0), True), ("prlimit64", (1, 7, LIMIT), False),
    ("prlimit64", (1 << 32 | 1, 7, LIMIT), False), ("prlimit64", (3, 7, LIMIT), True),
    ("prlimit64", (2, 7, LIMIT), True),
    ("prlimit64", (1, 7, 1 << 33), False), ("sched_setscheduler", (1,), False), ("sched_setscheduler", (1234,), True),
    ("sched_setaffinity", (0,), True), ("setpriority", (0, 0, 19), True), ("setpriority", (0, 1, 19), False),
    ("setpriority", (2, 0, 19), False), ("setpriority", (1, 0, 19), False), ("setpriority", (0, 77, 5), True),
)  # fmt: skip
"""Calls whose arguments decide, and whether they may be made."""


@pytest.mark.parametrize("machine", MACHINES)
def test_the_kernels_program_closes_what_is_listed_and_asks_for_arguments_where_they_decide(machine: str) -> None:
    program = kernel_filter(machine)
    column, architecture = ARCHITECTURES[machine]
    assert program is not None
    for name, number in calls.numbers(calls.CLOSED, column).items():
        assert decided(program, architecture, number) == ERROR | EPERM, name
    for name, number in calls.numbers(calls.ABSENT, column).items():
        assert decided(program, architecture, number) == ERROR | ENOSYS, name
    asked = calls.numbers(calls.ASKED, column)
    for name, arguments, may in CASES:
        error = EAFNOSUPPORT if name.startswith("socket") else EPERM
        wanted = ALLOW if may else ERROR | error
        assert decided(program, architecture, asked[name], arguments) == wanted, (name, arguments)
    closed = {number for table in (calls.CLOSED, calls.ABSENT) for number in calls.numbers(table, column).values()}
    plain = set(range(calls.NEWEST + 1)) - closed - set(asked.values())
    assert {decided(program, architecture, number) for number in plain} == {ALLOW}


@pytest.mark.parametrize("machine", MACHINES)
def test_what_nobody_knows_yet_and_other_processors_calls_are_closed(machine: str) -> None:
    program = kernel_filter(machine)
    _, architecture = ARCHITECTURES[machine]
    assert program is not None
    for number in (calls.NEWEST + 1, 500, 0x40000000, 0x40000000 + 41, -1):
        assert decided(program, architecture, number) == ERROR | ENOSYS
    for other in (0x40000003, 0x40000028, 0xC00000B7 if machine == "x86_64" else 0xC000003E):
        assert decided(program, other, 1) == KILL
    assert kernel_filter("riscv64") is None


def test_dockers_profile_and_the_kernels_program_agree() -> None:
    rules = json.loads(docker_profile())["syscalls"]
    for name, arguments, may in CASES:
        assert allowed(rules, name, arguments) is may, (name, arguments)
    for table in (calls.CLOSED, calls.ABSENT):
        assert not [name for name in calls.numbers(table, 0) if allowed(rules, name)]
    assert not [name for name in ("socketcall", "syslog", "mount", "bpf", "something_new") if allowed(rules, name)]
    assert all(allowed(rules, name) for name in ("read", "execve", "ptrace", "fork", "mmap2", "futex"))


def test_no_call_is_listed_twice_and_no_number_means_two() -> None:
    tables = (calls.CLOSED, calls.ABSENT, calls.ASKED)
    names = [name for table in tables for name in calls.numbers(table, 0)] + calls.ALLOWED.split()
    assert len(names) == len(set(names))
    for column in (0, 1):
        numbers = [number for table in tables for number in calls.numbers(table, column).values()]
        assert len(numbers) == len(set(numbers))
    assert not [name for name in names if fnmatchcase(name, "*[A-Z]*")]
