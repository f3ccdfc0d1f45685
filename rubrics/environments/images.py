"""Images as folders on the host: unpacked or built once, kept by the digest of what they were made of."""

from __future__ import annotations

import shutil
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path

from rubrics import jsonio
from rubrics.digests import digest128
from rubrics.environments.archives import SavedConfig, unpack
from rubrics.environments.content import content_digest
from rubrics.environments.mounts import may_mount
from rubrics.environments.recipes import DEBIAN, DEFAULT_WORKDIR, HOST, Places, Recipe, Root, Saved, Start
from rubrics.environments.repositories import place_repository
from rubrics.environments.saved import kept_root
from rubrics.environments.state import State
from rubrics.errors import InfraError

ALWAYS_PACKAGES = ("git", "patch", "python3", "python3-pytest")


@dataclass(frozen=True, slots=True)
class Images:
    """The folders of images, below `state.images`."""

    state: State
    places: Places
    _digests: dict[tuple[object, ...], str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def content(self, source: Path) -> str:
        """Digest of what the file or folder holds. A folder is looked at once, a file whenever it has changed."""
        found = source.stat()
        key = (source,) if source.is_dir() else (source, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        with self._lock:
            if key not in self._digests:
                self._digests[key] = content_digest(source, self.state)
            return self._digests[key]

    def root(self, start: Start, base_commit: str | None, default_base: str) -> Root:
        """The root file system of a rung. Raises `InfraError` saying what is missing."""
        if isinstance(start.source, Saved):
            return kept_root(self.state, start.source.name, start.workdir)
        if isinstance(start.source, Recipe):
            return self._built(start.source, start.workdir or DEFAULT_WORKDIR, base_commit, default_base)
        digest, folder, config = self._rootfs(start.source)
        return Root(digest, (folder,), start.workdir or config.workdir or DEFAULT_WORKDIR, config.env)

    def _built(self, recipe: Recipe, workdir: str, base_commit: str | None, default_base: str) -> Root:
        name = recipe.base or default_base
        layer = self.repository_layer(recipe, workdir, base_commit)
        if name == HOST:
            digest, base, config = "host", self._skeleton(), SavedConfig()
        elif name.startswith(DEBIAN):
            digest, base, config = *self.debian(name, recipe.packages), SavedConfig()
        else:
            _no_packages(recipe, name)
            digest, base, config = self._rootfs(name)
        layers = (base,) if layer is None else (layer, base)
        digest = digest128([digest, layer.name if layer else None])
        return Root(digest, layers, workdir, {**config.env, **recipe.env}, name == HOST)

    def repository_layer(self, recipe: Recipe, workdir: str, base_commit: str | None) -> Path | None:
        """The folder that holds the repository at its place, `<folder>/<workdir>`."""
        if recipe.repository is None:
            return None
        source = self.places.find(recipe.repository)
        if source is None:
            raise InfraError("no_image", f"repository {recipe.repository!r} is not there; name its folder with --data")
        digest = digest128(["repository", self.content(source), workdir, base_commit])
        target = self.state.images / digest
        with self.state.building(target) as folder:
            if folder is not None:
                place = folder / workdir.strip("/")
                place.parent.mkdir(parents=True, exist_ok=True)
                place_repository(source, base_commit, place)
        return target

    def debian(self, name: str, packages: tuple[str, ...]) -> tuple[str, Path]:
        """Digest and folder of a Debian made with debootstrap."""
        suite = name.removeprefix(DEBIAN)
        wanted = ",".join(sorted({*ALWAYS_PACKAGES, *packages}))
        digest = digest128(["debootstrap", suite, wanted])
        target = self.state.images / digest
        with self.state.building(target) as folder:
            if folder is not None:
                _debootstrap(suite, wanted, folder)
        return digest, target

    def _rootfs(self, reference: str) -> tuple[str, Path, SavedConfig]:
        source = self.places.find(reference)
        if source is None:
            raise InfraError(
                "no_image",
                f"image {reference!r} is no file here; bubblewrap takes archives: `docker save {reference} -o FILE`",
            )
        if source.is_dir():
            return digest128(["folder", self.content(source)]), source, SavedConfig()
        digest = digest128(["archive", self.content(source)])
        target, config = self.state.images / digest, self.state.images / f"{digest}.json"
        with self.state.building(target) as folder:
            if folder is not None:
                found = unpack(source, folder / "root")
                config.write_text(jsonio.dumps({"env": found.env, "workdir": found.workdir}), "utf-8")
                (folder / "root").rename(folder.with_name(f"{folder.name}.root"))
                folder.rmdir()
                folder.with_name(f"{folder.name}.root").rename(folder)
        values = jsonio.loads(config.read_bytes())
        return digest, target, SavedConfig(values["env"], values["workdir"])

    def _skeleton(self) -> Path:
        """An empty root whose links lead into /usr, as on this machine."""
        target = self.state.images / "host"
        with self.state.building(target) as folder:
            if folder is not None:
                for name in ("usr", "etc", "proc", "dev", "tmp", "root", "run", "var/tmp"):
                    (folder / name).mkdir(parents=True)
                (folder / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
                for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
                    if (Path("/") / name).is_symlink():
                        (folder / name).symlink_to(f"usr/{name}")
        return target


def _no_packages(recipe: Recipe, name: str) -> None:
    if recipe.packages:
        message = f"packages {', '.join(recipe.packages)} on base {name!r}: only a debian: base takes packages"
        raise InfraError("recipe", f"{message}; give a base that holds them")


_DIES_WITH_US = (
    "setpriv",
    "--pdeathsig",
    "KILL",
    "unshare",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
)
"""Before a command that mounts and starts others: killed with this process, they and their mounts go."""


def _debootstrap(suite: str, packages: str, folder: Path) -> None:
    if shutil.which("debootstrap") is None:
        raise InfraError(
            "no_image", f"base debian:{suite}: debootstrap is not installed; install it or give an archive"
        )
    alone = _DIES_WITH_US if may_mount() and shutil.which("setpriv") and shutil.which("unshare") else ()
    command = [*alone, "debootstrap", "--variant=minbase", f"--include={packages}", suite, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        raise InfraError("no_image", f"base debian:{suite}: debootstrap failed: {done.stdout.strip()[-300:]}")
