"""The one home of docker-py: containers, images and attached shells, with its errors turned into `InfraError`."""

from __future__ import annotations

import http.client
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
import docker.errors
import requests
import urllib3

from rubrics.environments.docker_channel import DockerChannel
from rubrics.environments.inside import root_of
from rubrics.errors import InfraError

LABEL = "rubrics.run"
STATE_LABEL = "rubrics.state"
IMAGE_LABEL = "rubrics.image"
OWNER_LABEL = "rubrics.owner"
REPOSITORY = "rubrics-environment"
CALL_SECONDS = 120
END_SECONDS = 5.0
_FAULTS = (
    docker.errors.DockerException, requests.RequestException, urllib3.exceptions.HTTPError, http.client.HTTPException,
    OSError, ValueError,
)  # fmt: skip
"""All that comes out of docker-py and below it when an engine hiccups."""


@dataclass(frozen=True, slots=True)
class ImageFacts:
    image_id: str
    env: dict[str, str]
    workdir: str | None
    labels: dict[str, str]


class Engine:
    """Talks to the Docker engine that the environment names. One client per thread."""

    def __init__(self) -> None:
        self._local = threading.local()
        self._clients: list[Any] = []
        with _infra("no_engine", "no Docker engine answers; start one, or use --env bubblewrap"):
            self.api.ping()

    @property
    def api(self) -> Any:
        client = getattr(self._local, "client", None)
        if client is None:
            client = self._local.client = docker.from_env(timeout=CALL_SECONDS).api
            self._clients.append(client)
        return client

    def close(self) -> None:
        """Close the connections of every thread."""
        for client in self._clients:
            client.close()

    def data_folders(self) -> tuple[Path, ...]:
        """Where the engine keeps containers; nothing when that is not on this machine."""
        with _infra("engine_died", "the Docker engine does not say where it keeps containers"):
            folder = Path(str(self.api.info().get("DockerRootDir") or "/nowhere"))
        return (folder,) if folder.is_dir() else ()

    def image(self, name: str) -> ImageFacts:
        """Facts of a local image; nothing is pulled. Raises `InfraError` when it is not there."""
        with _infra("no_image", f"image {name!r} is not on the engine; `docker pull {name}` or `docker load` it"):
            found = self.api.inspect_image(name)
        config = found.get("Config") or {}
        pairs = (item.partition("=") for item in config.get("Env") or ())
        env = {key: value for key, _, value in pairs}
        return ImageFacts(found["Id"], env, config.get("WorkingDir") or None, config.get("Labels") or {})

    def has_image(self, name: str) -> bool:
        try:
            self.api.inspect_image(name)
        except docker.errors.ImageNotFound:
            return False
        except _FAULTS as error:
            raise InfraError("engine_died", f"the Docker engine does not answer: {error}") from None
        return True

    def import_folder(self, folder: Path, tag: str, scratch: Path | None = None) -> None:
        """Make an image of a root file system; it is packed in `scratch`."""
        with tempfile.NamedTemporaryFile(suffix=".tar", dir=scratch) as archive:
            done = subprocess.run(["tar", "-C", str(folder), "-cf", archive.name, "."], capture_output=True, text=True)
            if done.returncode != 0:
                raise InfraError("disk_full", f"{folder}: cannot be packed: {done.stderr[-300:]}")
            with _infra("no_image", f"{folder}: the engine does not take it as an image"):
                changes = [f"LABEL {IMAGE_LABEL}={tag}"]
                said = self.api.import_image_from_file(archive.name, repository=REPOSITORY, tag=tag, changes=changes)
        if '"error"' in said:
            raise InfraError("no_image", f"{folder}: the engine does not take it as an image: {said[-300:]}")

    def load(self, archive: Path) -> str:
        """Load a `docker save` file; returns the image's id."""
        with open(archive, "rb") as handle, _infra("no_image", f"{archive}: the engine does not load it"):
            said = "".join(str(part.get("stream") or "") for part in self.api.load_image(handle, quiet=False))
        for line in reversed(said.splitlines()):
            for mark in ("Loaded image ID: ", "Loaded image: "):
                if line.startswith(mark):
                    return line.removeprefix(mark).strip()
        raise InfraError("no_image", f"{archive}: the engine loaded no image: {said[-300:]}")

    def create(self, image: str, command: list[str], labels: dict[str, str], host: dict[str, Any], **more: Any) -> str:
        """Create a container; `host` are the arguments of docker-py's `create_host_config`."""
        with _infra("engine_died", "the Docker engine did not create a container"):
            config = self.api.create_host_config(**host)
            made = self.api.create_container(
                image, command=command, entrypoint=[], stdin_open=True, network_disabled=True, user="0:0",
                labels=labels, host_config=config, working_dir="/", **more,
            )  # fmt: skip
        return str(made["Id"])

    def start(self, container: str) -> DockerChannel:
        """Start a created container with its streams attached."""
        with _infra("engine_died", "the Docker engine did not start a container"):
            wanted = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
            attached = self.api.attach_socket(container, params=wanted)
            self.api.start(container)
        return DockerChannel(attached, lambda: bool(self.state_of(container).get("Running")))

    def wait(self, container: str) -> int:
        """Wait until a container has ended; returns its exit code."""
        with _infra("engine_died", "the Docker engine did not say how a container ended"):
            return int(self.api.wait(container, timeout=CALL_SECONDS)["StatusCode"])

    def put(self, container: str, folder: str, archive: bytes) -> None:
        with _infra("engine_died", "the Docker engine did not take an archive"):
            self.api.put_archive(container, folder, archive)

    def get(self, container: str, path: str) -> Iterator[bytes]:
        with _infra("no_image", f"{path} is not in the image; correct the task's workdir"):
            chunks, _ = self.api.get_archive(container, path)
            yield from chunks

    def commit(self, container: str, tag: str, without: Collection[str] = (), **labels: str) -> str:
        """Make an image of a container, `without` the values of variables; returns its id. Raises `InfraError`."""
        conf = {
            "Env": [f"{name}=" for name in without],
            "Labels": {IMAGE_LABEL: tag, **{f"rubrics.{name}": value for name, value in labels.items()}},
        }
        with _infra("engine_died", "the Docker engine did not make an image of a container"):
            made = self.api.commit(container, repository=REPOSITORY, tag=tag, conf=conf)
        return str(made["Id"])

    def state_of(self, container: str) -> dict[str, Any]:
        """The container's state; empty when it is gone. Raises `InfraError` when the engine does not answer."""
        try:
            found: dict[str, Any] = self.api.inspect_container(container)["State"]
        except docker.errors.NotFound:
            return {}
        except _FAULTS as error:
            raise InfraError("engine_died", f"the Docker engine does not answer any more: {error}") from None
        return found

    def ended(self, container: str) -> dict[str, Any]:
        """The state of a container whose streams have ended, which it says of itself a moment later."""
        deadline = time.monotonic() + END_SECONDS
        while (state := self.state_of(container)).get("Running") and time.monotonic() < deadline:
            time.sleep(0.05)
        return state

    def root(self, container: str) -> Path | None:
        """Where the files of a running container can be read; null where this process may not, or it is elsewhere."""
        process = self.state_of(container).get("Pid") or 0
        try:
            ours = container.encode() in Path(f"/proc/{process}/cgroup").read_bytes()
        except OSError:
            return None
        return root_of(process) if ours else None

    def written_folder(self, container: str) -> Path | None:
        """Where the engine keeps what a container has written; null where that is not known here."""
        try:
            driver = self.api.inspect_container(container).get("GraphDriver") or {}
        except _FAULTS:
            return None
        folder = Path(str((driver.get("Data") or {}).get("UpperDir") or "/nowhere"))
        return folder if os.access(folder, os.R_OK) else None

    def has_seccomp(self) -> bool:
        with _infra("engine_died", "the Docker engine does not say whether it has seccomp"):
            found = self.api.info().get("SecurityOptions") or ()
        return any("seccomp" in str(option) for option in found)

    def remove(self, container: str) -> None:
        """Kill and remove; a container that is gone, and an engine that is, are left to the next sweep."""
        try:
            self.api.remove_container(container, force=True, v=True)
        except _FAULTS:
            return

    def containers(self, label: str) -> list[tuple[str, dict[str, str]]]:
        """Ids and labels of all containers that carry the label."""
        with _infra("engine_died", "the Docker engine did not list its containers"):
            found = self.api.containers(all=True, filters={"label": label})
        return [(item["Id"], item.get("Labels") or {}) for item in found]

    def saved(self) -> dict[str, str]:
        """Owners of the images that hold saved states, by image id."""
        with _infra("engine_died", "the Docker engine did not list its images"):
            found = self.api.images(filters={"label": OWNER_LABEL})
        return {item["Id"]: item["Labels"][OWNER_LABEL] for item in found}

    def remove_images(self, kept: set[str]) -> int:
        """Remove the images that were built here, but those to be kept and what they lie on; returns how many went."""
        with _infra("engine_died", "the Docker engine did not list its images"):
            found = self.api.images(filters={"label": IMAGE_LABEL}, quiet=True)
        return sum(self.remove_image(image) for image in set(found) - kept)

    def remove_image(self, image: str) -> bool:
        """Remove an image; false when another lies on it, or it is gone."""
        try:
            self.api.remove_image(image, force=True)
        except _FAULTS:
            return False
        return True


@contextmanager
def _infra(kind: str, message: str) -> Iterator[None]:
    """Errors of the engine as `InfraError`; a full disk is named as such."""
    try:
        yield
    except _FAULTS as error:
        full = "no space left" in str(error).lower()
        missing = isinstance(error, docker.errors.NotFound | docker.errors.APIError)
        found = "disk_full" if full else kind if missing or kind == "no_engine" else "engine_died"
        raise InfraError(found, f"{message}: {str(error)[:300]}") from None
