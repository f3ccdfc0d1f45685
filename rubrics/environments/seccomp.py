"""Filters of system calls: a program for the kernel that bubblewrap loads, a profile that Docker takes.

Both close the same (`system_calls.py`): new namespaces, sockets that leave the network namespace, the kernel's own
interfaces, and changes to process 1. Debuggers (`ptrace`) work, as under Docker's own profile.
"""

from __future__ import annotations

import platform
import struct
from errno import EAFNOSUPPORT, ENOSYS, EPERM
from functools import cache
from typing import Any

from rubrics import jsonio
from rubrics.environments import system_calls as calls

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Column of numbers, and the kernel's name of the architecture."""
_X32 = 0x40000000
_LOAD, _EQUAL, _GREATER, _BITS, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Offsets in what the kernel shows a filter; an argument has eight bytes, the lower half first."""
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
Step = tuple[int, int, int, int]
"""Code, steps to jump over when true and when false, operand."""


@cache
def kernel_filter(machine: str | None = None) -> bytes | None:
    """The program for this machine's processor; null for one whose numbers are not known."""
    found = ARCHITECTURES.get(machine or platform.machine())
    if found is None:
        return None
    column, architecture = found
    steps: list[Step] = [
        (_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, KILL), (_LOAD, 0, 0, _NUMBER),
    ]  # fmt: skip
    for name, number in calls.numbers(calls.ASKED, column).items():
        body = _decision(name)
        steps += [(_EQUAL, 0, len(body), number), *body]
    for table, error in ((calls.CLOSED, EPERM), (calls.ABSENT, ENOSYS)):
        for number in calls.numbers(table, column).values():
            steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, ERROR | error)]
    steps += [(_GREATER, 0, 1, calls.NEWEST), (_RETURN, 0, 0, ERROR | ENOSYS), (_RETURN, 0, 0, ALLOW)]
    assert calls.NEWEST < _X32
    return b"".join(struct.pack("<HBBI", *step) for step in steps)


def _argument(index: int, high: bool = False) -> Step:
    return _LOAD, 0, 0, _ARGUMENTS + 8 * index + 4 * high


def _decision(name: str) -> list[Step]:
    """Steps that end in what becomes of a call whose arguments decide."""
    allow, refuse = (_RETURN, 0, 0, ALLOW), (_RETURN, 0, 0, ERROR | EPERM)
    if name == "clone":
        return [_argument(0), (_BITS, 0, 1, calls.NEW_NAMESPACES), refuse, allow]
    if name == "personality":
        return [_argument(0), *_one_of(calls.PERSONALITIES), refuse]
    if name in ("socket", "socketpair"):
        return [_argument(0), *_one_of(calls.FAMILIES), (_RETURN, 0, 0, ERROR | EAFNOSUPPORT)]
    if name == "setpriority":
        return [_argument(0), (_EQUAL, 0, 2, 0), _argument(1), (_EQUAL, 0, 1, 1), refuse, allow]
    changes = [_argument(2), (_EQUAL, 0, 3, 0), _argument(2, high=True), (_EQUAL, 0, 1, 0), allow]
    asks = changes if name == "prlimit64" else []
    return [_argument(0), (_EQUAL, 1, 0, 1), allow, *asks, refuse]


def _one_of(values: tuple[int, ...]) -> list[Step]:
    return [step for value in values for step in ((_EQUAL, 0, 1, value), (_RETURN, 0, 0, ALLOW))]


@cache
def docker_profile() -> str:
    """The profile as JSON. It replaces the engine's own, so it lists what is allowed, not what is closed."""
    rules = [_rule(calls.ALLOWED.split())]
    rules += [_rule(["socket", "socketpair"], _is(0, family)) for family in calls.FAMILIES]
    rules += [_rule(["personality"], _is(0, value)) for value in calls.PERSONALITIES]
    rules += [_rule(["clone"], _masked(0, calls.NEW_NAMESPACES, 0)), _rule(["prlimit64"], _is(2, 0))]
    for other in (_masked(0, 0xFFFFFFFF, 0), *(_masked(0, 1 << bit, 1 << bit) for bit in range(1, 31))):
        rules.append(_rule(list(calls.OTHERS_LIMITS), other))
        rules.append(_rule(["setpriority"], _masked(0, 0xFFFFFFFF, 0), {**other, "index": 1}))
    rules.append({"names": [*calls.numbers(calls.ABSENT, 0)], "action": "SCMP_ACT_ERRNO", "errnoRet": ENOSYS})
    architectures = [
        {"architecture": "SCMP_ARCH_X86_64", "subArchitectures": ["SCMP_ARCH_X86"]},
        {"architecture": "SCMP_ARCH_AARCH64", "subArchitectures": []},
    ]
    profile = {"defaultAction": "SCMP_ACT_ERRNO", "archMap": architectures, "syscalls": rules}
    return jsonio.dumps(profile)


def _rule(names: list[str], *arguments: dict[str, Any]) -> dict[str, Any]:
    return {"names": names, "action": "SCMP_ACT_ALLOW", "args": list(arguments)}


def _is(index: int, value: int) -> dict[str, Any]:
    """An argument of 32 bits, or a pointer to nothing."""
    return {"index": index, "value": value, "op": "SCMP_CMP_EQ"}


def _masked(index: int, mask: int, value: int) -> dict[str, Any]:
    return {"index": index, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}
