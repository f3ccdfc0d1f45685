"""Images for the Docker backend: what a task names, loaded or built once, with the open shell's program baked in."""

from __future__ import annotations

import io
import tarfile
import threading
import uuid
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from rubrics.digests import digest128
from rubrics.environments.docker_engine import LABEL, REPOSITORY, STATE_LABEL, Engine, ImageFacts
from rubrics.environments.images import Images
from rubrics.environments.kept_shell import FOLDER
from rubrics.environments.recipes import DEBIAN, DEFAULT_WORKDIR, HOST, Recipe, Saved, Start
from rubrics.environments.saved import Kept
from rubrics.environments.state import State
from rubrics.errors import InfraError

_BAKE = f"rm -rf {FOLDER} && mkdir {FOLDER} && cp -L /bin/sh {FOLDER}/sh && chmod 0111 {FOLDER}/sh"


@dataclass(frozen=True, slots=True)
class Prepared:
    """An image that a shell can be opened in."""

    image_id: str
    workdir: str
    env: dict[str, str]
    digest: str
    """Id of the image as it was named or built, without the shell's program."""
    origin: str | None = None
    """Of a state that was kept: id of the image that it was made from."""


@dataclass(frozen=True, slots=True)
class DockerImages:
    engine: Engine
    state: State
    folders: Images
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _known: dict[str, str] = field(default_factory=dict)
    _ready: dict[str, Prepared] = field(default_factory=dict)

    def prepared(self, start: Start, base_commit: str | None) -> Prepared:
        """The image of a rung, ready; asked of the engine once. Raises `InfraError` saying what is missing."""
        key = digest128([repr(start.source), start.workdir, base_commit])
        with self._lock:
            if key not in self._ready:
                self._ready[key] = self._prepare(start, base_commit)
            return self._ready[key]

    def _prepare(self, start: Start, base_commit: str | None) -> Prepared:
        if isinstance(start.source, Saved):  # its shell's program is in it
            facts = self.engine.image(start.source.name)
            workdir = start.workdir or facts.labels.get("rubrics.workdir", DEFAULT_WORKDIR)
            return Prepared(facts.image_id, workdir, facts.env, facts.image_id, facts.labels.get("rubrics.start"))
        if isinstance(start.source, Recipe):
            workdir = start.workdir or DEFAULT_WORKDIR
            facts = self.engine.image(self._built(start.source, workdir, base_commit))
            env = {**facts.env, **start.source.env}
        else:
            facts = self._named(start.source)
            workdir, env = start.workdir or facts.workdir or DEFAULT_WORKDIR, facts.env
        return Prepared(self._with_shell(facts.image_id), workdir, env, facts.image_id)

    def _named(self, reference: str) -> ImageFacts:
        """An archive or root folder that lies here, else an image that the engine has."""
        source = self.folders.places.find(reference) if not self.engine.has_image(reference) else None
        if source is None:
            return self.engine.image(reference)
        if source.is_dir():
            return self.engine.image(self._imported(source, digest128(["folder", self.folders.content(source)])))
        digest = self.folders.content(source)
        if f"loaded {digest}" not in self._known:
            with tarfile.open(source) as tar:
                saved = "manifest.json" in tar.getnames()
            if saved:
                self._known[f"loaded {digest}"] = self.engine.load(source)
            else:
                start = Start("image", reference, None, patched=False)
                root = self.folders.root(start, None, HOST)
                self._known[f"loaded {digest}"] = self._imported(root.layers[0], digest)
        return self.engine.image(self._known[f"loaded {digest}"])

    def _built(self, recipe: Recipe, workdir: str, base_commit: str | None) -> str:
        """The recipe's image: its base with the repository in one layer more."""
        base = recipe.base or f"{DEBIAN}bookworm"
        if base == HOST:
            raise InfraError("recipe", "base `host` is for bubblewrap; name a root file system or `debian:<suite>`")
        if base.startswith(DEBIAN):
            digest, folder = self.folders.debian(base, recipe.packages)
            below = self._imported(folder, digest)
        else:
            if recipe.packages:
                raise InfraError("recipe", f"packages on base {base!r}: only a debian: base takes packages")
            below = self._named(base).image_id
        layer = self.folders.repository_layer(recipe, workdir, base_commit)
        if layer is None:
            return below
        tag = digest128(["recipe", self.engine.image(below).image_id, layer.name])
        if not self.engine.has_image(f"{REPOSITORY}:{tag}"):
            self._commit(below, ["/bin/true"], tag, layer)
        return f"{REPOSITORY}:{tag}"

    def _imported(self, folder: Path, digest: str) -> str:
        if not self.engine.has_image(f"{REPOSITORY}:{digest}"):
            self.state.check_disk(1 << 30)
            self.engine.import_folder(folder, digest, self.state.new_folder())
        return f"{REPOSITORY}:{digest}"

    def _with_shell(self, image_id: str) -> str:
        tag = digest128(["shell", image_id, _BAKE])
        if not self.engine.has_image(f"{REPOSITORY}:{tag}"):
            self._commit(image_id, ["/bin/sh", "-c", _BAKE], tag)
        return f"{REPOSITORY}:{tag}"

    def _commit(self, image: str, command: list[str], tag: str, layer: Path | None = None) -> None:
        """Run one command of ours in the image, or put a folder into it, and keep the result."""
        labels = {LABEL: self.state.run, STATE_LABEL: str(self.state.root)}
        container = self.engine.create(image, command, labels, {"network_mode": "none", "cap_drop": ["ALL"]})
        try:
            if layer is not None:
                self.engine.put(container, "/", packed(layer))
            else:
                self.engine.start(container).close()
                code = self.engine.wait(container)
                if code != 0:
                    raise InfraError("no_image", f"image {image}: has no /bin/sh with cp and chmod (exit code {code})")
            self.engine.commit(container, tag)
        finally:
            self.engine.remove(container)

    def kept(self, image_id: str) -> Kept | None:
        """What is known of a saved state; null when it is not there."""
        labels = self.engine.image(image_id).labels if self.engine.has_image(image_id) else {}
        start = labels.get("rubrics.start")
        return Kept(start, labels.get("rubrics.owner", "")) if start else None

    def keep(self, container: str, image: Prepared, owner: str, without: Collection[str] = ()) -> str:
        """Make an image of a container's state, variables named emptied; returns its id."""
        self.state.check_disk(1 << 30)
        tag = f"saved-{uuid.uuid4().hex}"
        labels = {"start": image.origin or image.digest, "owner": owner, "workdir": image.workdir}
        return self.engine.commit(container, tag, without, **labels)


def packed(folder: Path) -> bytes:
    """A folder as an archive whose files belong to user 0."""
    buffer = io.BytesIO()

    def owned(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        return member

    with tarfile.open(fileobj=buffer, mode="w") as tar:
        tar.add(folder, arcname=".", filter=owned)
    return buffer.getvalue()
