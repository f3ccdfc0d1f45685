"""Regenerate the sample task set: play scripted attempts in real repositories and run the hidden tests on them.

Reads `source/`, writes `tasks.jsonl`, `outcomes.json` and `runs/` under `--out` (default: the folder of this file).
Needs Python and git, no network. Equal sources give equal bytes: dates, authors and environment are fixed, the
temporary folder reads `/testbed` in what is written, and running times read `0.001s`. Token counts and costs are
computed (4 characters a token), timestamps are counted: no model is called.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "source"
TASKS = ("sample__textkit-17", "sample__spans-8", "sample__confpath-31", "sample__durations-23")
ALPHA = ("alpha-1", "alpha-2", "alpha-3", "alpha-4", "alpha-5")
BETA = ("beta-1", "beta-2", "beta-3")
MODELS = {"alpha": "scripted/alpha", "beta": "scripted/beta"}
HARNESSED = ("alpha-1", "alpha-2", "alpha-3", "alpha-4", "beta-1", "beta-2")
"""Runs whose outcomes stand in harness reports."""
LISTED = ("alpha-4", "alpha-5", "beta-3")
"""Runs whose outcomes stand in `outcomes.json`: alpha-4 stands in both."""

TEST_COMMAND = "python -m unittest discover -v -s tests -t ."
TOOLS = ("bash", "sh", "cat", "cp", "git", "grep", "head", "ls", "mkdir", "mv", "rm", "sed", "sort", "tail", "wc")
RUNNING_TIME = re.compile(r"\b(Ran \d+ tests? in )\d+\.\d+s")
STEP_LIMIT = 12
"""Turns that an alpha attempt may take; then it ends by `LimitsExceeded`."""
TOKEN_PRICE = 1e-6
FIRST_TIMESTAMP = 1743498000
DATE = "2025-04-01T09:00:00+00:00"
SYSTEM = "You solve programming tasks with a shell."
ASK = (
    "Solve this issue. The repository is in /testbed.\n\n<issue>\n{spec}</issue>\n\n"
    "Every command starts in /testbed in a new shell. Hidden tests decide. {submit}"
)
SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git add -A && git diff --cached"
FORMAT_ERROR = (
    "Tool call error:\n\n<error>\nError parsing tool call arguments: not valid JSON\n</error>\n\n"
    'Call the bash tool with one argument: {"command": "your_command_here"}'
)
PROVIDER_ERROR = "litellm.RateLimitError: the provider refused the request: tokens per minute exceeded"


@dataclass(frozen=True)
class Turn:
    """What the script says and runs in one turn."""

    say: str
    commands: tuple[str, ...]
    malformed: str | None = None
    """Arguments of a tool call that are not valid JSON; nothing is run."""


@dataclass(frozen=True)
class Attempt:
    """One scripted attempt."""

    task: str
    run: str
    turns: tuple[Turn, ...]
    end: str
    """`submit`, or `provider_error`: the answer to the last turn never comes."""


@dataclass
class Played:
    """What really happened: per turn the outputs, and the patch that was submitted."""

    attempt: Attempt
    turns: list[tuple[Turn, list[tuple[str, int]]]] = field(default_factory=list)
    submission: str = ""
    exit_status: str = "Submitted"


@dataclass(frozen=True)
class Task:
    """One task: its fixed row and the repository at base, as a template to copy."""

    name: str
    row: dict[str, Any]
    template: Path
    fail_to_pass: list[str]
    pass_to_pass: list[str]


# ------------------------------------------------------------------------------------------------------------ sources


def read_attempts(task: str) -> list[Attempt]:
    """The attempts of `source/<task>/attempts.txt`: sections that start with a line `@@ word`."""
    attempts: list[Attempt] = []
    text = (SOURCE / task / "attempts.txt").read_text(encoding="utf-8")
    for section in re.split(r"^@@ attempt ", text, flags=re.M)[1:]:
        run, _, body = section.partition("\n")
        attempts.append(Attempt(task, run.strip(), tuple(_read_turns(body)), _read_end(body)))
    return attempts


def _read_end(body: str) -> str:
    return str(re.findall(r"^@@ end (\w+)$", body, flags=re.M)[-1])


def _read_turns(body: str) -> Iterator[Turn]:
    """`say` starts a turn; `run` adds a command to it; `malformed` replaces the commands."""
    say, malformed = "", None
    commands: list[str] = []
    for section in re.split(r"^@@ ", body, flags=re.M)[1:]:
        word, _, rest = section.partition("\n")
        word, _, inline = word.partition(" ")
        if word in ("say", "end") and (commands or malformed is not None):
            yield Turn(say, tuple(commands), malformed)
            say, commands, malformed = "", [], None
        if word == "say":
            say = inline.strip()
        elif word == "run":
            commands.append((inline or rest).strip("\n"))
        elif word == "malformed":
            malformed = rest.strip("\n")


# -------------------------------------------------------------------------------------------------------------- shell


class Shell:
    """A bash with an empty environment, a path of few tools, and outputs without machine paths or times."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.bin = folder / "bin"
        self.home.mkdir()
        self.bin.mkdir()
        for tool in TOOLS:
            found = shutil.which(tool)
            if found is None:
                raise RuntimeError(f"the scripted agent needs {tool!r}, which is not on PATH")
            (self.bin / tool).symlink_to(found)
        python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
        wrapper = self.bin / "python"
        wrapper.write_text(f'#!/bin/sh\nexec "{python}" -s -B "$@"\n', encoding="utf-8")
        wrapper.chmod(0o755)
        self.environment = {
            "PATH": str(self.bin), "HOME": str(self.home), "LC_ALL": "C.UTF-8", "TZ": "UTC", "PAGER": "cat",
            "GIT_PAGER": "cat", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Sample Author", "GIT_AUTHOR_EMAIL": "author@example.org", "GIT_AUTHOR_DATE": DATE,
            "GIT_COMMITTER_NAME": "Sample Author", "GIT_COMMITTER_EMAIL": "author@example.org",
            "GIT_COMMITTER_DATE": DATE, "PYTHONHASHSEED": "0", "PYTHONNODEBUGRANGES": "1", "PYTHONUTF8": "1",
            "PYTHONDONTWRITEBYTECODE": "1", "PIP_NO_INDEX": "1", "NO_COLOR": "1",
        }  # fmt: skip

    def run(self, command: str, folder: Path, text: str | None = None, date: str = DATE) -> tuple[str, int]:
        """Output (both streams) and exit code of `command`."""
        done = subprocess.run(
            [str(self.bin / "bash"), "-c", command],
            cwd=folder,
            env=self.environment | {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date},
            input=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        output = done.stdout.replace(str(folder), "/testbed").replace(str(self.bin) + "/", "")
        output = RUNNING_TIME.sub(r"\g<1>0.001s", output)
        return re.sub(r"^(?:\S*/)?bash: line \d+: ", "bash: ", output, flags=re.M), done.returncode

    def must(self, command: str, folder: Path, text: str | None = None, date: str = DATE) -> str:
        """Output of a command that has to succeed."""
        output, code = self.run(command, folder, text, date)
        if code:
            raise RuntimeError(f"{command!r} ended with {code}: {output}")
        return output


# -------------------------------------------------------------------------------------------------------------- tasks


def make_repository(shell: Shell, task: str, folder: Path) -> str:
    """Make the repository at base, with an earlier commit, and return the base commit."""
    about = _about(task)
    base = SOURCE / task / "base"
    shutil.copytree(base, folder, ignore=shutil.ignore_patterns("tests", "__pycache__"))
    git = "git -c init.defaultBranch=main"
    shell.must(f"{git} init -q && git config core.abbrev 8 && git config core.fileMode false", folder)
    shell.must("git add -A && git commit -q -m 'First modules'", folder, date="2025-02-03T09:00:00+00:00")
    shutil.copytree(base / "tests", folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shell.must("git add -A && git commit -q -m 'Add tests'", folder, date="2025-02-10T09:00:00+00:00")
    if "future_branch" in about:
        branch = about["future_branch"]
        shell.must(f"git checkout -q -b {branch}", folder)
        shutil.copytree(SOURCE / task / "solution", folder, dirs_exist_ok=True)
        shell.must(f"git commit -q -a -m '{about['future_message']}'", folder)
        shell.must("git checkout -q main", folder)
    return shell.must("git rev-parse HEAD", folder).strip()


def overlay_diff(shell: Shell, template: Path, files: Path, scratch: Path) -> str:
    """The diff that turns the repository into itself overlaid with `files`."""
    shutil.copytree(template, scratch)
    shutil.copytree(files, scratch, dirs_exist_ok=True)
    return shell.must("git add -A && git diff --cached", scratch)


def make_task(shell: Shell, task: str, folder: Path) -> Task:
    """Build the row; which tests must pass is measured on base and reference."""
    about = _about(task)
    template = folder / "template"
    commit = make_repository(shell, task, template)
    row: dict[str, Any] = {name: about[name] for name in ("instance_id", "repo")}
    row["base_commit"] = commit
    row["problem_statement"] = (SOURCE / task / "spec.md").read_text(encoding="utf-8")
    row["patch"] = overlay_diff(shell, template, SOURCE / task / "solution", folder / "solution")
    row["test_patch"] = overlay_diff(shell, template, SOURCE / task / "hidden", folder / "hidden")
    before, _ = run_tests(shell, template, row, "", folder / "before")
    after, log = run_tests(shell, template, row, row["patch"], folder / "after")
    if set(after.values()) != {"ok"}:
        raise RuntimeError(f"the reference of {task} fails its tests: {log}")
    fail_to_pass = [test for test in sorted(after) if before.get(test) != "ok"]
    pass_to_pass = [test for test in sorted(after) if before.get(test) == "ok"]
    row |= {
        "hints_text": about["hints_text"],
        "FAIL_TO_PASS": json.dumps(fail_to_pass),
        "PASS_TO_PASS": json.dumps(pass_to_pass),
        "version": about["version"],
        "created_at": about["created_at"],
        "test_command": TEST_COMMAND,
        "repository": f"source/{task}/base",
    }
    return Task(task, row, template, fail_to_pass, pass_to_pass)


def _about(task: str) -> dict[str, Any]:
    about: dict[str, Any] = json.loads((SOURCE / task / "task.json").read_text(encoding="utf-8"))
    return about


def run_tests(
    shell: Shell, template: Path, row: dict[str, Any], patch: str, folder: Path
) -> tuple[dict[str, str], str]:
    """Statuses and log of the hidden tests on a clean checkout with `patch`; test files come from the test patch."""
    shutil.copytree(template, folder)
    if patch:
        shell.must("git apply --whitespace=nowarn -", folder, patch)
    files = " ".join(sorted(set(re.findall(r"^diff --git a/(\S+)", row["test_patch"], flags=re.M))))
    shell.must(f"git checkout -q HEAD -- {files}", folder)
    shell.must("git apply -", folder, row["test_patch"])
    log, _ = shell.run(TEST_COMMAND, folder)
    return dict(_statuses(log)), log


def _statuses(log: str) -> Iterator[tuple[str, str]]:
    yield from re.findall(r"^\w+ \((\S+)\) \.\.\. (ok|FAIL|ERROR)$", log, flags=re.M)


# ----------------------------------------------------------------------------------------------------------- attempts


def play(shell: Shell, task: Task, attempt: Attempt, folder: Path) -> Played:
    """Run the commands of an attempt in a copy of the repository."""
    shutil.copytree(task.template, folder)
    played = Played(attempt)
    limit = STEP_LIMIT if attempt.run in ALPHA else len(attempt.turns)
    for turn in attempt.turns[:limit]:
        answers = []
        for command in turn.commands:
            answers.append(shell.run(command, folder))
            settle_times(folder)
        played.turns.append((turn, answers))
    if attempt.end == "provider_error":
        played.exit_status = "RateLimitError"
    elif len(attempt.turns) >= limit and attempt.run in ALPHA:
        played.exit_status = "LimitsExceeded"
    else:
        played.submission = shell.must(SUBMIT, folder).partition("\n")[2]
    return played


def settle_times(folder: Path) -> None:
    """Running times that an attempt wrote into files read `0.001s` too: they and their blobs would differ each time."""
    for file in folder.rglob("*"):
        if file.is_file() and ".git" not in file.relative_to(folder).parts:
            text = file.read_text("utf-8")
            settled = RUNNING_TIME.sub(r"\g<1>0.001s", text)
            if settled != text:
                file.write_text(settled, "utf-8")


def grade(shell: Shell, task: Task, played: Played, folder: Path) -> tuple[dict[str, Any], str]:
    """A harness report and the log of the hidden tests."""
    statuses, log = run_tests(shell, task.template, task.row, played.submission, folder)
    lists = {"FAIL_TO_PASS": task.fail_to_pass, "PASS_TO_PASS": task.pass_to_pass}
    tests = {
        name: {
            "success": [test for test in listed if statuses.get(test) == "ok"],
            "failure": [test for test in listed if statuses.get(test) != "ok"],
        }
        for name, listed in lists.items()
    }
    report = {
        "patch_is_None": False,
        "patch_exists": bool(played.submission),
        "patch_successfully_applied": bool(played.submission),
        "resolved": not any(result["failure"] for result in tests.values()),
        "tests_status": tests | {name: {"success": [], "failure": []} for name in ("FAIL_TO_FAIL", "PASS_TO_FAIL")},
    }
    return {task.name: report}, log


def tokens(text: str) -> int:
    """Stand-in for a token count: 4 characters a token, rounded up."""
    return -(-len(text) // 4)


def cost(sent: int, received: int) -> float:
    """Stand-in for a price in dollars."""
    return round((sent + 4 * received) * TOKEN_PRICE, 8)


# -------------------------------------------------------------------------------------------- form of mini-swe-agent


class MiniWriter:
    """Builds one mini-swe-agent trajectory."""

    def __init__(self, task: Task, played: Played) -> None:
        self.task, self.played = task, played
        self.sent = tokens(SYSTEM)
        self.cost = 0.0
        self.calls = 0
        self.clock = FIRST_TIMESTAMP + 600 * TASKS.index(task.name)
        submit = f"To submit, run: {SUBMIT}"
        ask = ASK.format(spec=task.row["problem_statement"], submit=submit)
        self.messages: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}]
        self.add({"role": "user", "content": ask})

    def add(self, message: dict[str, Any]) -> None:
        self.sent += tokens(message["content"])
        self.messages.append(message)

    def assistant(self, say: str, arguments: list[str], actions: list[str]) -> list[str]:
        """Add what the model said; returns the ids of its calls."""
        self.calls += 1
        self.clock += 7
        ids = [f"call_{self.calls:02d}_{index}" for index in range(len(arguments))]
        received = tokens(say) + sum(map(tokens, arguments))
        price = cost(self.sent, received)
        self.cost += price
        usage = {"prompt_tokens": self.sent, "completion_tokens": received, "total_tokens": self.sent + received}
        calls = [
            {"index": index, "id": id_, "type": "function", "function": {"name": "bash", "arguments": text}}
            for index, (id_, text) in enumerate(zip(ids, arguments, strict=True))
        ]
        extra = {
            "actions": [{"command": command, "tool_call_id": id_} for command, id_ in zip(actions, ids, strict=False)],
            "response": {"model": MODELS["alpha"], "object": "chat.completion", "usage": usage},
            "cost": price,
            "timestamp": float(self.clock),
        }
        self.sent += received
        self.messages.append({"role": "assistant", "content": say, "tool_calls": calls, "extra": extra})
        return ids

    def turn(self, turn: Turn, results: list[tuple[str, int]]) -> None:
        """Add one played turn with its answers."""
        if turn.malformed is not None:
            self.assistant(turn.say, [turn.malformed], [])
            self.add({"role": "user", "content": FORMAT_ERROR, "extra": {"interrupt_type": "FormatError"}})
            return
        ids = self.assistant(turn.say, [json.dumps({"command": text}) for text in turn.commands], list(turn.commands))
        for id_, (output, code) in zip(ids, results, strict=True):
            self.clock += 1
            self.add({
                "role": "tool",
                "tool_call_id": id_,
                "content": f"<returncode>{code}</returncode>\n<output>\n{output}</output>",
                "extra": {"raw_output": output, "returncode": code, "timestamp": float(self.clock)},
            })  # fmt: skip

    def finish(self) -> dict[str, Any]:
        """The whole file: all turns, the submission, the exit."""
        played = self.played
        for turn, results in played.turns:
            self.turn(turn, results)
        ends: dict[str, Any] = {"exit_status": played.exit_status, "submission": played.submission}
        content = played.submission
        if played.exit_status == "Submitted":
            self.assistant("I submit the change.", [json.dumps({"command": SUBMIT})], [SUBMIT])
        elif played.exit_status == "RateLimitError":
            content = ends["exception_str"] = PROVIDER_ERROR
        else:
            content = played.exit_status
        self.messages.append({"role": "exit", "content": content, "extra": dict(ends)})
        stats = {"instance_cost": round(self.cost, 8), "api_calls": self.calls}
        info = {"model_stats": stats, "config": _mini_config(), "mini_version": "2.2.7", **ends}
        return {
            "info": info,
            "messages": self.messages,
            "trajectory_format": "mini-swe-agent-1.1",
            "instance_id": self.task.name,
        }


def _mini_config() -> dict[str, Any]:
    return {
        "agent": {"system_template": SYSTEM, "step_limit": STEP_LIMIT, "cost_limit": 1.0},
        "agent_type": "make_sample.MiniWriter",
        "model": {"model_name": MODELS["alpha"], "model_kwargs": {"temperature": 0.0}},
        "model_type": "scripted",
        "environment": {"cwd": "/testbed", "timeout": 60, "env": {"PAGER": "cat"}},
        "environment_type": "local",
    }


# ------------------------------------------------------------------------------------------------- form of SWE-agent


def swe_agent(task: Task, played: Played) -> dict[str, Any]:
    """One SWE-agent trajectory: a thought and one shell command per turn, then `submit`."""
    ask = ASK.format(spec=task.row["problem_statement"], submit="To submit, run: submit")
    history: list[dict[str, Any]] = [
        {"role": "system", "content": SYSTEM, "agent": "primary"},
        {"role": "user", "content": ask, "agent": "primary"},
    ]
    context = tokens(SYSTEM) + tokens(ask)
    sent = received = 0
    price = 0.0
    trajectory: list[dict[str, Any]] = []
    pairs = [(turn.say, turn.commands[0], results[0][0]) for turn, results in played.turns]
    pairs.append(("The change is complete.", "submit", played.submission))
    state = json.dumps({"open_file": "n/a", "working_dir": "/testbed"})
    for thought, action, observation in pairs:
        response = f"{thought}\n```\n{action}\n```"
        new = tokens(response)
        sent, received, price = sent + context, received + new, price + cost(context, new)
        said = {"response": response, "thought": thought, "action": action + "\n"}
        trajectory.append({**said, "observation": observation, "state": state})
        history.append(
            {"role": "assistant", "content": response, "thought": thought, "action": action + "\n", "agent": "primary"}
        )
        if action != "submit":
            told = f"{observation}(Open file: n/a)\n(Current directory: /testbed)\nbash-$"
            history.append({"role": "user", "content": told, "agent": "primary"})
            context += new + tokens(told)
    stats = {
        "total_cost": round(price, 8),
        "instance_cost": round(price, 8),
        "tokens_sent": sent,
        "tokens_received": received,
        "api_calls": len(pairs),
    }
    info = {"exit_status": "submitted", "submission": played.submission, "model_stats": stats}
    return {"environment": "swe_main", "trajectory": trajectory, "history": history, "info": info}


# ------------------------------------------------------------------------------------------------------------ writing


def write_json(path: Path, value: Any) -> None:
    """Write indented JSON with a final newline."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


def write_lines(path: Path, values: list[Any]) -> None:
    """Write one JSON value a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)
    path.write_text(text, encoding="utf-8", newline="\n")


def write_run(out: Path, run: str, played: dict[str, tuple[Task, Played]]) -> None:
    """Write a run's trajectories and predictions."""
    folder = out / "runs" / run
    model = MODELS[run.partition("-")[0]]
    for name, (task, attempt) in played.items():
        if run in ALPHA:
            write_json(folder / name / f"{name}.traj.json", MiniWriter(task, attempt).finish())
        else:
            write_json(folder / name / f"{name}.traj", swe_agent(task, attempt))
    rows = [
        {"model_name_or_path": model, "instance_id": name, "model_patch": attempt.submission}
        for name, (_, attempt) in played.items()
    ]
    if run in ALPHA:
        write_json(folder / "preds.json", {row["instance_id"]: row for row in rows})
    else:
        write_lines(folder / "all_preds.jsonl", rows)


def attempt_once(shell: Shell, task: Task, attempt: Attempt, folder: Path) -> tuple[Played, dict[str, Any], str]:
    """Play and grade one attempt in a folder of its own."""
    played = play(shell, task, attempt, folder / "testbed")
    report, log = grade(shell, task, played, folder / "grade")
    return played, report, log


def generate(out: Path, folder: Path) -> None:
    """Make everything under `out`, working in `folder`."""
    shell = Shell(folder)
    tasks = {name: make_task(shell, name, folder / name) for name in TASKS}
    attempts = [attempt for name in TASKS for attempt in read_attempts(name)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {
            (attempt.run, attempt.task): pool.submit(
                attempt_once, shell, tasks[attempt.task], attempt, folder / f"{attempt.task}.{attempt.run}"
            )
            for attempt in attempts
        }
        done = {key: job.result() for key, job in jobs.items()}
    write_lines(out / "tasks.jsonl", [task.row for task in tasks.values()])
    listed = []
    for run in ALPHA + BETA:
        write_run(out, run, {name: (tasks[name], done[run, name][0]) for name in TASKS})
        for name in TASKS:
            played, report, log = done[run, name]
            if played.exit_status == "RateLimitError":
                continue
            if run in HARNESSED:
                write_json(out / "runs" / run / "eval" / name / "report.json", report)
                (out / "runs" / run / "eval" / name / "test_output.txt").write_text(log, encoding="utf-8", newline="\n")
            if run in LISTED:
                listed.append({"task_id": name, "run": run, "resolved": report[name]["resolved"]})
    write_json(out / "outcomes.json", listed)
    refuse_machine_paths(out, folder)


def refuse_machine_paths(out: Path, folder: Path) -> None:
    """Fail when a written file names the temporary folder, this folder or the interpreter's."""
    words = [str(folder), str(HERE), sys.base_prefix + "/", f"{Path.home()}/"]
    for path in [out / "tasks.jsonl", out / "outcomes.json", *sorted((out / "runs").rglob("*.*"))]:
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        for word in words:
            if word in text:
                raise RuntimeError(f"{path} holds the machine path {word}")


def main() -> None:
    """Parse, clear what was generated before, generate."""
    parser = argparse.ArgumentParser(description="Regenerate the sample task set.")
    parser.add_argument("--out", type=Path, default=HERE, help="folder to write to (default: data/sample)")
    out = parser.parse_args().out.resolve()
    shutil.rmtree(out / "runs", ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sample-") as name:
        generate(out, Path(os.path.realpath(name)))


if __name__ == "__main__":
    main()
