"""Commands in a session, with a clean set of variables, a git that runs nobody's code, and lists of any names.

Names of files travel as base64 over NUL-ended lists, both ways: no name can break out of a command or be misread.
"""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from rubrics.environments.session import CommandResult, Session
from rubrics.errors import InfraError
from rubrics.preparation.config import Preparation
from rubrics.preparation.findings import removable

_SETTINGS = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.untrackedCache=false", "core.splitIndex=false",
    "core.attributesFile=/dev/null", "core.excludesFile=/dev/null", "core.pager=cat", "core.editor=true",
    "core.sshCommand=false", "core.askPass=true", "core.commitGraph=false", "core.multiPackIndex=false",
    "core.alternateRefsCommand=false", "core.sparseCheckout=false", "core.quotePath=false", "diff.external=",
    "credential.helper=", "gc.auto=0", "maintenance.auto=false", "protocol.allow=never", "submodule.recurse=false",
    "log.showSignature=false", "commit.gpgSign=false", "uploadpack.packObjectsHook=", "advice.detachedHead=false",
    "pack.writeBitmaps=false",
)  # fmt: skip
_VARIABLES = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
}
_GIT = "G='git " + " ".join(f"-c {setting}" for setting in _SETTINGS) + '\'\ng() { $G "$@"; }\n'
_ENVIRON = "env -i " + " ".join(f"{name}={value}" for name, value in _VARIABLES.items())
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_ARGUMENTS = 60_000
"""Bytes of names per command; one argument may hold 128 KiB."""
_PIECE = 32 << 20
"""Bytes that are read out of the environment at once."""


class Shell:
    """A session seen through commands that are the same in every environment. Has a scratch folder until `close`."""

    def __init__(self, session: Session, config: Preparation) -> None:
        self._session = session
        self._config = config
        self.scratch = "/"
        self.seen: dict[str, object] = {}
        """What the scratch folder shows now, so that it is not made twice; emptied by `forget`."""
        folder = config.below("tmp")
        made = self.text(f"mkdir -p {quote(folder)} && mktemp -d {quote(folder)}/rubrics-prepare.XXXXXXXX").strip()
        if not made.startswith(folder):
            raise InfraError("preparation", f"no scratch folder below {folder}: the environment said {made[:200]!r}")
        self.scratch = made
        self.text(f"printf '[safe]\\n\\tdirectory = *\\n' > {quote(made)}/.gitconfig")

    @property
    def session(self) -> Session:
        """The session itself, with nothing made safe."""
        return self._session

    def close(self) -> None:
        """Remove the scratch folder."""
        if self.scratch != "/":
            self.run(f"rm -rf -- {quote(self.scratch)}")
            self.scratch = "/"

    def run(self, script: str) -> CommandResult:
        """Run a script of `sh`, in which `g` is git with safe settings and `$S` the scratch folder."""
        command = f"{_ENVIRON} HOME={quote(self.scratch)} S={quote(self.scratch)} sh -c {quote(_GIT + script)}"
        result = self._session.run(command, self._config.seconds)
        if result.timed_out or result.exit_code is None or result.limit is not None:
            why = result.limit or f"no answer within {self._config.seconds:g} s"
            raise InfraError("limits", f"preparation ended by a limit ({why}): {script[:120]!r}")
        if result.truncated:
            raise InfraError("limits", f"preparation: more output than is kept: {script[:120]!r}; raise the limit")
        return result

    def text(self, script: str) -> str:
        """Output of a script that must succeed. Raises `InfraError` with what it said."""
        result = self.run(script)
        if result.exit_code != 0:
            said = result.output.strip()[-400:]
            raise InfraError("preparation", f"exit code {result.exit_code} of {script[:160]!r}: {said}")
        return result.output

    def lines(self, script: str) -> list[str]:
        return self.text(script).splitlines()

    def names(self, script: str) -> list[str]:
        """The NUL-ended names that a script prints, whatever its exit code; a name that was cut off is left out."""
        return [name for name in decoded(self.run(f"{{\n{script}\n}} 2>/dev/null | base64").output) if name]

    def with_names(self, names: Iterable[str], command: str, prefix: str = "") -> list[CommandResult]:
        """Run `command` with the NUL-ended names on standard input, in as many pieces as arguments allow."""
        encoded = (base64.b64encode(piece).decode() for piece in pieces(names) if piece)
        return [self.run(f"{prefix}\nprintf %s {names} | base64 -d | {command}") for names in encoded]

    def names_with(self, names: Iterable[str], command: str, prefix: str = "") -> list[list[str]]:
        """The NUL-ended words that `command` prints, given NUL-ended names; one list per piece."""
        return [decoded(result.output) for result in self.with_names(names, f"{command} 2>/dev/null | base64", prefix)]

    def whole(self, script: str, names: Iterable[str] = ()) -> Iterator[bytes]:
        """What a script prints on its standard output, as it is and of any size, in pieces. With names, it runs once
        for every so many of them, NUL-ended on its standard input."""
        kept = f"{quote(self.scratch)}/printed"
        for piece in pieces(names):
            source = f"printf %s {base64.b64encode(piece).decode()} | base64 -d |" if piece else ""
            size = int(self.text(f"{source} {{ {script}\n}} > $S/printed 2>/dev/null; wc -c < $S/printed"))
            for start in range(0, size, _PIECE):
                if size > _PIECE:
                    self.text(f"dd if=$S/printed of=$S/piece bs={_PIECE} skip={start // _PIECE} count=1 2>/dev/null")
                yield self._session.read(f"{self.scratch}/piece" if size > _PIECE else f"{self.scratch}/printed")
        self.run(f"rm -f -- {kept} $S/piece")

    def forget(self) -> None:
        """The environment has changed, or may have."""
        self.seen.clear()

    def existing(self, paths: Iterable[str]) -> list[str]:
        """Those of the paths that are there, links to nowhere among them."""
        script = 'for f; do if [ -e "$f" ] || [ -L "$f" ]; then printf "%s\\0" "$f"; fi; done'
        return [name for names in self.names_with(paths, f"xargs -0 sh -c {quote(script)} x") for name in names]

    def exists(self, path: str) -> bool:
        return self.run(f"test -e {quote(path)} || test -L {quote(path)}").exit_code == 0

    def read(self, path: str) -> bytes | None:
        """Content of a file; null when it is none or cannot be read."""
        try:
            return self._session.read(path)
        except (OSError, ValueError):
            return None
        except InfraError as error:
            if error.kind != "read":
                raise
            return None

    def write(self, path: str, content: bytes) -> None:
        self._session.write(path, content)

    def overwrite(self, path: str, content: bytes) -> None:
        """Write a file that is there, which keeps its owner and mode."""
        self.write(f"{self.scratch}/content", content)
        self.text(f"cat $S/content > {quote(path)} && rm -f $S/content")

    def remove(self, paths: Sequence[str], around: Sequence[str]) -> list[str]:
        """Remove files and folders; returns those that may not be: outside the root, or with `around` inside."""
        refused = [path for path in paths if not removable(path, self._config, around)]
        self.with_names([path for path in paths if path not in set(refused)], "xargs -0 rm -rf --")
        return refused


def pieces(names: Iterable[str]) -> Iterator[bytes]:
    """NUL-ended names in pieces that fit into a command; one empty piece without names."""
    piece: list[bytes] = []
    size = 0
    for name in names:
        data = name.encode("utf-8", "surrogateescape") + b"\0"
        if piece and size + len(data) > _ARGUMENTS:
            yield b"".join(piece)
            piece, size = [], 0
        piece.append(data)
        size += len(data)
    yield b"".join(piece)


def variable(name: str, value: bytes) -> str:
    """The start of a script that sets a variable of the shell to any text without NUL or a newline at its end."""
    return f'{name}="$(printf %s {base64.b64encode(value).decode()} | base64 -d)"\n'


def decoded(output: str) -> list[str]:
    """NUL-ended words out of base64; a last one that was cut off is left out. Raises `InfraError` for what is none: the
    image has no such program, or one of its own."""
    text = "".join(output.split())
    if not _BASE64.fullmatch(text):
        raise InfraError("preparation", f"`base64` of the image prints none: {output[:160]!r}; give another image")
    words = base64.b64decode(text[: len(text) // 4 * 4]).split(b"\0")[:-1]
    return [word.decode("utf-8", "surrogateescape") for word in words]


def quote(text: str) -> str:
    return shlex.quote(text)
