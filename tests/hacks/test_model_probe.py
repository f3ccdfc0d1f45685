"""The probe that a model drives: what it finds beyond the other probes goes, what it only claims changes nothing."""

from __future__ import annotations

import base64
import gzip
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hack_helpers import MODEL, asked, calls, prompts
from leaks import ANSWER, FIXED, HIDDEN, SECRETS, Box, build, copy
from model_server.server import Raw, Said

from rubrics.agents.loop import Bounds
from rubrics.environments.session import Session
from rubrics.preparation.config import Preparation
from rubrics.preparation.findings import Finding
from rubrics.preparation.loop import PROBES, Prepared, prepare
from rubrics.preparation.model_probe import model_probe
from rubrics.records.tasks import SealedTask, Task

Made = tuple[Box, Task, SealedTask]
NOTHING = {"reason": "history, packages, archives and encoded files were looked at", "findings": []}
NAME = f"model:{MODEL}"


@pytest.fixture
def made(tmp_path: Path) -> Made:
    (tmp_path / "box").mkdir()
    box, task, sealed = build(tmp_path / "box")
    (box.root / "opt/tool/data.bin").write_bytes(b"\x00\x01")
    return box, task, sealed


def finding(place: str, kind: str = "answer_copy", quote: str = "data", remedy: str = "remove") -> dict[str, Any]:
    evidence = [{"place": "run:0", "quote": quote}]
    return {"kind": kind, "place": place, "detail": "it decodes to the change", "remedy": remedy, "evidence": evidence}


def report(*findings: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return "submit_findings", {"reason": "looked at everything below the root", "findings": list(findings)}


def run(command: str) -> tuple[str, dict[str, Any]]:
    return "run_command", {"command": command}


def mine(done: Prepared) -> list[Finding]:
    """What the model's probe found, over all passes."""
    return [item for found in done.rounds for item in found if item.probe == NAME]


def narrow(box: Box, **more: Any) -> Preparation:
    """A configuration by which the other probes read the shortest files only, so that there is something to find."""
    return Preparation(root=str(box.root), text_bytes=100, **more)


def prepared(made: Made, script: Any, bounds: Bounds | None = None, copies: Any = None) -> tuple[Prepared, str, int]:
    """What preparation comes to, all prompts, and the number of requests."""
    box, task, sealed = made
    with asked(script) as (client, server):
        probe = model_probe(client, bounds or Bounds(turns=10, seconds=120))
        done = prepare(box.session(), task, sealed, narrow(box), (*PROBES, probe), copies)
        return done, prompts(server), len(server.requests)


def test_an_encoded_answer_is_found_removed_and_a_second_probe_finds_nothing(made: Made) -> None:
    box, task, sealed = made
    hidden = box.put("opt/tool/theme.dat", base64.b64encode(gzip.compress(FIXED.encode())))
    assert prepare(box.session(), task, sealed, narrow(box)).clean, "only the model can find it"
    assert hidden.exists()
    first = [run(f"base64 -d {hidden} | gunzip | head -3; ls {box.root}/opt/tool"), report(finding(str(hidden)))]
    done, _, _ = prepared(made, calls(first, [run("true"), report()]))
    assert done.clean, (done.open, done.notes)
    assert done.reports == {NAME: "found_nothing"}
    (found,) = mine(done)
    assert (found.probe, found.kind, found.place, found.remedy) == (NAME, "answer_text", str(hidden), "remove")
    assert "base64, packed" in found.detail
    assert not hidden.exists()
    assert (box.root / "opt/tool/data.bin").exists()


def test_the_model_looks_only_where_the_others_found_nothing(made: Made) -> None:
    box, _, _ = made
    box.fetch("refs/heads/develop")
    done, _, requests = prepared(made, calls([run("ls"), report()]))
    assert {item.probe for item in done.rounds[0]} & {"references"}
    assert (done.clean, requests) == (True, 2)


def test_claims_that_nothing_proves_change_nothing_and_are_noted(made: Made) -> None:
    box, _, _ = made
    before = {
        file: file.stat().st_mtime_ns for file in box.root.rglob("*") if file.is_file() and ".git" not in file.parts
    }
    lies = [
        str(box.root / "opt/absent.patch"), str(box.root), str(box.root / "usr"), str(box.repo / "quill"),
        str(box.repo / "tests/test_fields.py"), str(box.root / "opt/tool/data.bin"), "/etc/passwd", "../../../etc",
        "refs/heads/gone", "deadbeef" * 5, box.base,
    ]  # fmt: skip
    done, _, _ = prepared(made, calls([run(f"ls {box.root}/opt/tool"), report(*map(finding, lies))]))
    assert done.clean, done.open
    assert mine(done) == []
    assert len([note for note in done.notes if "not proved" in note]) == len(lies)
    assert {file: file.stat().st_mtime_ns for file in before} == before


def test_an_answer_in_a_folder_of_the_system_is_reported_and_left_for_a_person(made: Made) -> None:
    box, _, _ = made
    file = box.put("usr/share/misc/magic.dat", FIXED.encode()[::-1])
    done, _, _ = prepared(made, calls([run(f"rev {file}; echo data"), report(finding(str(file)))]))
    assert not done.clean
    assert [(item.place, item.remedy) for item in done.open] == [(str(file), "none")]
    assert file.exists()


def test_what_stands_at_base_is_never_removed_and_not_forgotten_while_it_is_open(made: Made) -> None:
    box, task, sealed = made
    config = narrow(box, work_tree="keep")
    file = box.repo / "CHANGELOG.md"
    file.write_bytes(base64.b64encode(FIXED.encode()))
    with asked(calls([run(f"base64 -d {file}; echo data"), report(finding(str(file)))], [report()])) as (
        client,
        server,
    ):
        done = prepare(box.session(), task, sealed, config, (*PROBES, model_probe(client)))
    assert {item.remedy for item in mine(done)} == {"rebuild"}
    assert file.exists()
    assert not done.clean
    assert len(server.requests) == 2, "what was proved is checked again, not asked again"


def test_what_the_probe_writes_itself_is_no_finding_and_does_not_stay(made: Made) -> None:
    box, _, _ = made
    file = box.root / "tmp/planted.txt"
    write = f"printf '%s\\n' '{ANSWER.strip()}' > {file}; sleep 1.1; touch {file}; cat {file}; echo data"
    done, _, _ = prepared(made, calls([run(write), report(finding(str(file)))]))
    assert done.clean
    assert mine(done) == []
    assert not file.exists()


def test_an_answer_that_a_command_printed_is_reported_also_where_no_file_is_told(made: Made) -> None:
    box, _, _ = made
    key = bytes(character ^ 42 for character in HIDDEN.encode())
    file = box.put("opt/tool/noise.bin", key)
    decode = f"import sys; sys.stdout.buffer.write(bytes(c ^ 42 for c in open('{file}', 'rb').read())); print('data')"
    done, _, _ = prepared(made, calls([run(f'python3 -c "{decode}"'), report(finding(str(file)))]))
    assert not done.clean
    assert [(item.kind, item.remedy) for item in done.open] == [("answer_printed", "none")]


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        (calls([run("ls")]), "no_submission"),
        (calls([("submit_findings", "{")]), "truncated"),
        (calls([("fly", {})]), "bad_call"),
        (lambda _: Said("It is all clean."), "no_call"),
        (lambda _: Raw(500, b"{}"), "server_error"),
    ],
)
def test_a_model_that_gives_no_report_has_found_nothing_and_proved_nothing(made: Made, script: Any, kind: str) -> None:
    done, _, _ = prepared(made, script)
    assert done.reports == {NAME: f"unfinished_{kind}"}
    assert done.clean, "what the other probes found still holds"
    assert any(f"did not finish ({kind})" in note for note in done.notes)


def test_it_works_in_a_copy_where_there_is_one(made: Made, tmp_path: Path) -> None:
    box, _, _ = made
    hidden = box.put("opt/tool/theme.dat", base64.b64encode(gzip.compress(FIXED.encode())))
    opened: list[Path] = []

    @contextmanager
    def copied(without: Collection[str]) -> Iterator[Session]:
        folder = tmp_path / f"copy{len(opened)}"
        there = copy(box, folder)
        opened.append(folder)
        yield there.session()
        shutil.rmtree(folder)

    wreck = run("rm -rf .git quill; touch ../tmp/left; echo data")
    done, _, _ = prepared(made, calls([wreck, report(finding(str(hidden)))], [wreck, report()]), copies=copied)
    assert done.clean, (done.open, done.notes)
    assert len(opened) == 2
    assert not hidden.exists()
    assert (box.repo / "quill").exists()
    assert not (box.root / "tmp/left").exists()


def test_what_it_leaves_in_the_environment_itself_goes(made: Made) -> None:
    box, _, _ = made
    wreck = run("echo changed > quill/fields.py; touch ../tmp/left; git branch mine")
    done, _, _ = prepared(made, calls([wreck, report()]))
    assert done.clean, (done.open, done.notes)
    assert "value.seconds" in (box.repo / "quill/fields.py").read_text()
    assert not (box.root / "tmp/left").exists()
    assert box.git("branch", "--list", "mine") == ""


def test_no_prompt_holds_sealed_text_and_no_finding_quotes_it(made: Made) -> None:
    box, _, _ = made
    hidden = box.put("opt/tool/theme.dat", base64.b64encode(gzip.compress(FIXED.encode())))
    named = {**finding(ANSWER.strip()), "detail": ANSWER}
    told = calls(
        [run(f"ls {hidden}; echo data"), report({**finding(str(hidden)), "detail": ANSWER}, named)], [report()]
    )
    done, sent, _ = prepared(made, told)
    kept = repr(done)
    for secret in SECRETS:
        assert secret not in kept
        assert secret not in sent.replace(ANSWER, "").split("submit_findings")[0]
    assert "Durations over a day lose their days." in sent


def test_a_folder_of_many_files_is_bounded(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    box, _, _ = made
    for number in range(150):
        box.put(f"opt/many/{number:03}", "x")
    done, _, _ = prepared(made, calls([run("echo data"), report(finding(str(box.root / "opt/many")))]))
    assert done.clean
