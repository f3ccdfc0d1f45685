"""Where an environment starts from: a rollout's snapshot, a `docker save` file, a bundle, a patch of another commit."""

from __future__ import annotations

import uuid
from dataclasses import replace
from pathlib import Path

import pytest
from environment_helpers import rollout_of, small_task, started_or_skipped, tiny_root
from leaks import git

from rubrics.environments.docker_engine import LABEL, REPOSITORY
from rubrics.environments.docker_rollouts import DockerEnvironment
from rubrics.environments.recipes import starts
from rubrics.environments.session import Environment
from rubrics.errors import InfraError

ONCE = uuid.uuid4().hex
"""Tests run beside each other on one engine."""


@pytest.mark.parametrize("mode", ["docker", "docker-per-image"])
def test_a_rollouts_snapshot_is_entered_as_it_is_and_no_patch_goes_on_top(
    mode: str, base: None, repository: Path
) -> None:
    """The container was saved by somebody else, after the rollout had broken what our shell needs."""
    environment = started_or_skipped(mode)
    assert isinstance(environment, DockerEnvironment)
    engine, task = environment.engine, small_task(repository)
    snapshot = f"{REPOSITORY}:snapshot-{mode}-{ONCE}"
    image = environment._images.prepared(next(starts(task, None)), None).image_id
    command = [
        "/bin/sh",
        "-c",
        "echo final > /testbed/calc.py; rm -rf /.rubrics; mkdir /.rubrics; echo x > /.rubrics/sh",
    ]
    container = engine.create(image, command, {LABEL: environment._state.run}, {"network_mode": "none"})
    try:
        engine.start(container).close()
        assert engine.wait(container) == 0
        engine.api.commit(container, repository=REPOSITORY, tag=f"snapshot-{mode}-{ONCE}")
        session = environment.open(task, rollout_of(task, "a patch that is not put on", snapshot))
        assert session.rung == "snapshot"
        assert session.read("calc.py") == b"final\n"
        assert session.run("exit 3", 20).exit_code == 3
        session.close()
        gone = environment.open(task, rollout_of(task, "", f"{REPOSITORY}:no-such-snapshot"))
        assert gone.rung == "repository+patch"
        gone.close()
    finally:
        engine.remove(container)
        engine.remove_image(snapshot)
        environment.close()


@pytest.fixture(scope="module")
def saved_image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A `docker save` file of two layers, the upper of which removes and changes what the lower has."""
    environment = started_or_skipped("docker")
    assert isinstance(environment, DockerEnvironment)
    folder = tmp_path_factory.mktemp("saved")
    root = tiny_root(folder / "root")
    for name in ("gone", "changed", "testbed/kept", "folder/old"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("lower\n")
    engine, archive = environment.engine, folder / "image.tar"
    engine.import_folder(root, f"tiny-{ONCE}")
    command = ["/bin/sh", "-c", "rm -rf /gone /folder; mkdir /folder; echo upper > /changed; echo new > /folder/new"]
    container = engine.create(f"{REPOSITORY}:tiny-{ONCE}", command, {LABEL: environment._state.run}, {})
    try:
        engine.start(container).close()
        assert engine.wait(container) == 0
        conf = {"Env": ["GREETING=hello world"], "WorkingDir": "/testbed"}
        made = engine.api.commit(container, repository=REPOSITORY, tag=f"layers-{ONCE}", conf=conf)
        with open(archive, "wb") as file:
            for part in engine.api.get_image(f"{REPOSITORY}:layers-{ONCE}"):
                file.write(part)
        engine.remove(container)
        assert engine.remove_image(made["Id"])
        engine.remove_image(f"{REPOSITORY}:tiny-{ONCE}")
    finally:
        engine.remove(container)
        environment.close()
    return archive


def test_a_docker_save_file_is_an_image_with_its_layers_variables_and_working_folder(
    environment: Environment, saved_image: Path
) -> None:
    task = replace(small_task(saved_image, image=str(saved_image)), repository=None, recipe=None)
    session = environment.open(task, None)
    assert session.rung == "image"
    assert session.image_digest
    said = session.run('echo "$GREETING"; cat kept /changed; ls /gone /folder', 20).output.splitlines()
    assert said[:3] == ["hello world", "lower", "upper"]
    assert "new" in said
    assert "old" not in said
    assert any("gone" in line and "No such file" in line for line in said)
    session.close()


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A git bundle of two commits, the second one, and a patch that was made on the first."""
    folder = tmp_path_factory.mktemp("bundle")
    repo = folder / "repo"
    repo.mkdir()
    git(repo, "init", "-q", "-b", "main")
    lines = [f"line {number}\n" for number in range(1, 10)]
    commits = []
    for change in ({}, {4: "line 4, later\n"}):
        (repo / "text").write_text("".join(change.get(n, line) for n, line in enumerate(lines, 1)))
        git(repo, "add", "text")
        git(repo, "commit", "-q", "-m", "x")
        commits.append(git(repo, "rev-parse", "HEAD"))
    git(repo, "checkout", "-q", "--detach", commits[0])
    (repo / "text").write_text("".join(["line 1, patched\n", *lines[1:]]))
    patch = git(repo, "diff", "--full-index") + "\n"
    git(repo, "checkout", "-q", "-f", "main")
    git(repo, "bundle", "create", str(folder / "repo.bundle"), "main")
    return folder / "repo.bundle", commits[1], patch


def test_a_bundle_is_cloned_at_base_and_a_patch_that_fits_by_its_blobs_only_goes_on_three_way(
    environment: Environment, bundle: tuple[Path, str, str]
) -> None:
    file, commit, patch = bundle
    task = replace(small_task(file), base_commit=commit)
    session = environment.open(task, rollout_of(task, patch))
    assert session.rung == "repository+patch(3way)"
    assert session.read("text").decode().splitlines()[:4] == ["line 1, patched", "line 2", "line 3", "line 4, later"]
    done = session.run("git rev-parse HEAD; git log --format=%H | wc -l; git status --short; ls /tmp/*.diff", 20)
    assert done.output.split()[:4] == [commit, "2", "M", "text"]
    assert done.exit_code != 0  # the patch itself is gone
    session.close()


def test_a_bundle_without_the_base_commit_is_infra(base: None, bundle: tuple[Path, str, str]) -> None:
    environment = started_or_skipped("bubblewrap")
    task = replace(small_task(bundle[0]), base_commit="0" * 40)
    with pytest.raises(InfraError, match="check repository and base_commit"):
        environment.open(task, None)
    environment.close()
